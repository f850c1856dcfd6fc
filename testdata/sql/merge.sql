CREATE TABLE target (tid int PRIMARY KEY, balance int);
CREATE TABLE source (sid int, delta int);
INSERT INTO target VALUES (1, 10), (2, 20), (3, 30);
INSERT INTO source VALUES (2, 5), (3, 20), (4, 40);
MERGE INTO target t USING source s ON t.tid = s.sid
  WHEN MATCHED AND t.balance > 25 THEN DELETE
  WHEN MATCHED THEN UPDATE SET balance = t.balance + s.delta
  WHEN NOT MATCHED THEN INSERT VALUES (s.sid, s.delta);
SELECT * FROM target ORDER BY tid;
MERGE INTO target t USING source s ON t.tid = s.sid WHEN MATCHED THEN DO NOTHING WHEN NOT MATCHED THEN DO NOTHING;
MERGE INTO target USING source ON tid = sid WHEN MATCHED THEN DELETE;
SELECT * FROM target ORDER BY tid;
MERGE INTO target t USING (SELECT sid, delta FROM source WHERE sid > 2) s ON t.tid = s.sid
  WHEN NOT MATCHED AND s.delta > 30 THEN INSERT (balance, tid) VALUES (DEFAULT, s.sid)
  WHEN NOT MATCHED THEN INSERT (tid) VALUES (sid + 100);
SELECT * FROM target ORDER BY tid;
MERGE INTO target AS t USING (VALUES (1, 'one'), (4, 'four')) AS v (id, w) ON t.tid = v.id AND t.balance IS NOT NULL
  WHEN MATCHED THEN UPDATE SET (balance, tid) = (length(w), tid + 1)
  WHEN NOT MATCHED AND v.id <> 4 THEN INSERT VALUES (v.id, 0);
SELECT * FROM target ORDER BY tid;
WITH c AS (SELECT * FROM source) MERGE INTO target t USING c ON tid = sid
  WHEN MATCHED AND delta = (SELECT max(delta) FROM source) THEN UPDATE SET balance = (SELECT sum(delta) FROM source)
  WHEN NOT MATCHED AND EXISTS (SELECT 1 FROM target x WHERE x.tid = c.sid + 1) THEN INSERT VALUES (sid, -1);
SELECT * FROM target ORDER BY tid;
PREPARE m (int, int) AS MERGE INTO target t USING (SELECT $1 AS k, $2 AS v) s ON t.tid = s.k
  WHEN MATCHED THEN UPDATE SET balance = v WHEN NOT MATCHED THEN INSERT VALUES (k, v);
EXECUTE m (4, 44);
EXECUTE m (5, 55);
SELECT * FROM target ORDER BY tid;

SELECT 'a row a second time' AS next;
TRUNCATE source;
INSERT INTO source VALUES (4, 1), (4, 2), (9, 9), (9, 10);
MERGE INTO target t USING source s ON tid = sid WHEN MATCHED THEN UPDATE SET balance = delta;
MERGE INTO target t USING source s ON tid = sid WHEN MATCHED THEN DELETE;
MERGE INTO target t USING source s ON tid = sid WHEN MATCHED AND delta = 1 THEN UPDATE SET balance = 1 WHEN MATCHED THEN DELETE;
MERGE INTO target t USING source s ON tid = sid WHEN MATCHED AND delta = 1 THEN UPDATE SET balance = 1 WHEN MATCHED THEN DO NOTHING;
MERGE INTO target t USING source s ON tid = sid WHEN NOT MATCHED THEN INSERT VALUES (sid, delta);
MERGE INTO target t USING source s ON tid = sid WHEN NOT MATCHED THEN INSERT VALUES (sid + delta, delta);
SELECT * FROM target ORDER BY tid;
MERGE INTO target t USING target u ON t.tid = u.tid + 1 WHEN MATCHED THEN UPDATE SET balance = u.balance WHEN NOT MATCHED THEN INSERT VALUES (u.tid + 1000, u.balance);
SELECT * FROM target ORDER BY tid;

SELECT 'what is refused' AS next;
MERGE INTO target t USING source s ON tid = sid
  WHEN MATCHED THEN DELETE WHEN MATCHED THEN DO NOTHING;
MERGE INTO target t USING source s ON tid = sid
  WHEN NOT MATCHED THEN INSERT VALUES (t.tid, 1);
MERGE INTO target t USING source s ON tid = sid
  WHEN NOT MATCHED AND balance > 1 THEN DO NOTHING;
MERGE INTO target t USING source s ON tid = sid
  WHEN NOT MATCHED THEN INSERT VALUES (nope, 1);
MERGE INTO target t USING source s ON tid = sid
  WHEN NOT MATCHED THEN INSERT VALUES (1, 2, 3);
MERGE INTO target t USING source s ON tid = sid
  WHEN NOT MATCHED THEN INSERT (tid, balance) VALUES (1);
MERGE INTO target t USING source s ON tid = sid
  WHEN NOT MATCHED THEN INSERT (tid, tid) VALUES (1, 1);
MERGE INTO target t USING source s ON tid = sid
  WHEN NOT MATCHED THEN INSERT (nope) VALUES (1);
MERGE INTO target t USING source s ON tid = sid
  WHEN NOT MATCHED THEN UPDATE SET balance = 1;
MERGE INTO target t USING source s ON tid = sid
  WHEN MATCHED THEN INSERT VALUES (1, 1);
MERGE INTO target t USING source s ON tid = sid
  WHEN MATCHED THEN UPDATE SET balance = 'x';
MERGE INTO target t USING source s ON tid = sid
  WHEN MATCHED AND count(*) > 1 THEN DELETE;
MERGE INTO target t USING source s ON tid = sid
  WHEN MATCHED AND delta THEN DELETE;
MERGE INTO target t USING source t ON tid = sid
  WHEN MATCHED THEN DELETE;
MERGE INTO target USING target ON true
  WHEN MATCHED THEN DELETE;
MERGE INTO nope t USING source s ON tid = sid
  WHEN MATCHED THEN DELETE;
MERGE INTO target t USING nope s ON tid = sid
  WHEN MATCHED THEN DELETE;
MERGE INTO target t USING source s ON tid = sid;
MERGE INTO target t USING source s ON tid = sid
  WHEN MATCHED THEN DELETE RETURNING *;
CREATE VIEW tv AS SELECT * FROM target;
MERGE INTO tv t USING source s ON tid = sid WHEN MATCHED THEN DELETE;
MERGE INTO target t USING tv s ON t.tid = s.tid WHEN MATCHED THEN DO NOTHING;
DROP VIEW tv;
BEGIN READ ONLY;
MERGE INTO target t USING source s ON tid = sid WHEN MATCHED THEN DELETE;
ROLLBACK;
SELECT count(*) FROM target;

SELECT 'constraints, defaults and generated columns' AS next;
CREATE TABLE full_one (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, k int UNIQUE NOT NULL CHECK (k < 100), twice int GENERATED ALWAYS AS (k * 2) STORED, d text DEFAULT 'none');
MERGE INTO full_one f USING (VALUES (1), (2)) v (x) ON f.k = v.x WHEN NOT MATCHED THEN INSERT (k) VALUES (x);
MERGE INTO full_one f USING (VALUES (1), (3)) v (x) ON f.k = v.x
  WHEN MATCHED THEN UPDATE SET k = x + 10, d = DEFAULT WHEN NOT MATCHED THEN INSERT (id, k, d) OVERRIDING SYSTEM VALUE VALUES (50, x, 'given');
SELECT * FROM full_one ORDER BY id;
MERGE INTO full_one f USING (VALUES (4)) v (x) ON f.k = v.x WHEN NOT MATCHED THEN INSERT (id, k) VALUES (1, x);
MERGE INTO full_one f USING (VALUES (4)) v (x) ON f.k = v.x WHEN NOT MATCHED THEN INSERT (id, k) OVERRIDING USER VALUE VALUES (1, x);
MERGE INTO full_one f USING (VALUES (4)) v (x) ON f.k = v.x WHEN MATCHED THEN UPDATE SET twice = 1;
MERGE INTO full_one f USING (VALUES (4)) v (x) ON f.k = v.x WHEN MATCHED THEN UPDATE SET id = 1;
MERGE INTO full_one f USING (VALUES (5)) v (x) ON f.k = v.x WHEN NOT MATCHED THEN INSERT (k, twice) VALUES (1, 1);
MERGE INTO full_one f USING (VALUES (5)) v (x) ON f.k = v.x WHEN NOT MATCHED THEN INSERT DEFAULT VALUES;
MERGE INTO full_one f USING (VALUES (5)) v (x) ON f.k = v.x WHEN NOT MATCHED THEN INSERT (k) VALUES (x + 95);
MERGE INTO full_one f USING (VALUES (5)) v (x) ON f.k = v.x WHEN NOT MATCHED THEN INSERT (k) VALUES (11);
MERGE INTO full_one f USING (VALUES (2)) v (x) ON f.k = v.x WHEN MATCHED THEN UPDATE SET k = 11;
MERGE INTO full_one f USING (VALUES (2)) v (x) ON f.k = v.x WHEN MATCHED THEN UPDATE SET k = NULL;
SELECT k, twice, d FROM full_one ORDER BY k;

SELECT 'foreign keys' AS next;
CREATE TABLE parent (id int PRIMARY KEY, note text);
CREATE TABLE child (pid int REFERENCES parent ON DELETE CASCADE ON UPDATE SET NULL, n int);
CREATE TABLE strict (pid int REFERENCES parent);
INSERT INTO parent VALUES (1), (2), (3), (4);
INSERT INTO child VALUES (1, 1), (2, 2), (3, 3), (4, 4);
INSERT INTO strict VALUES (4);
MERGE INTO parent p USING (VALUES (1, 'delete'), (2, 'update'), (3, 'keep'), (7, 'insert')) v (id, what) ON p.id = v.id
  WHEN MATCHED AND what = 'delete' THEN DELETE
  WHEN MATCHED AND what = 'update' THEN UPDATE SET id = 20
  WHEN MATCHED THEN UPDATE SET note = what
  WHEN NOT MATCHED THEN INSERT VALUES (v.id, what);
SELECT * FROM parent ORDER BY id;
SELECT * FROM child ORDER BY n;
MERGE INTO parent p USING strict s ON p.id = s.pid WHEN MATCHED THEN DELETE;
MERGE INTO parent p USING strict s ON p.id = s.pid WHEN MATCHED THEN UPDATE SET id = 40;
MERGE INTO child c USING (VALUES (99)) v (x) ON c.n = 3 WHEN MATCHED THEN UPDATE SET pid = x;
MERGE INTO child c USING (VALUES (99)) v (x) ON c.n = x WHEN NOT MATCHED THEN INSERT VALUES (x, x);
MERGE INTO child c USING (VALUES (7)) v (x) ON c.n = x WHEN NOT MATCHED THEN INSERT VALUES (x, x);
SELECT * FROM child ORDER BY n;

SELECT 'many rows' AS next;
CREATE TABLE big (id int PRIMARY KEY, v int, w text);
INSERT INTO big SELECT g, 0, 'old' FROM generate_series(1, 5000) g;
MERGE INTO big b USING (SELECT g AS id FROM generate_series(4001, 7000) g) s ON b.id = s.id
  WHEN MATCHED AND s.id % 3 = 0 THEN DELETE
  WHEN MATCHED AND s.id % 3 = 1 THEN UPDATE SET v = s.id, w = 'changed'
  WHEN NOT MATCHED AND s.id % 2 = 0 THEN INSERT VALUES (s.id, 1, 'new');
SELECT w, count(*), sum(v) FROM big GROUP BY w ORDER BY w;
BEGIN;
MERGE INTO big b USING big c ON b.id = c.id + 5000 WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (c.id + 100000, 2, 'moved');
SELECT w, count(*) FROM big GROUP BY w ORDER BY w;
ROLLBACK;
SELECT w, count(*) FROM big GROUP BY w ORDER BY w;

SELECT 'sources of several parts' AS next;
CREATE TABLE part (a int PRIMARY KEY, n int);
INSERT INTO part VALUES (1, 0);
UPDATE part SET n = n + 1 FROM (SELECT 1 AS x UNION ALL SELECT 2) u;
INSERT INTO part SELECT 5, x FROM (SELECT 1 AS x UNION ALL SELECT 2) u ON CONFLICT (a) DO UPDATE SET n = excluded.n;
MERGE INTO part USING (SELECT 1 AS x UNION ALL SELECT 2) u ON true WHEN MATCHED THEN UPDATE SET n = x;
MERGE INTO part USING (SELECT 1 AS x UNION ALL SELECT 2) u ON a = x WHEN MATCHED THEN UPDATE SET n = x WHEN NOT MATCHED THEN INSERT VALUES (x, x);
SELECT * FROM part ORDER BY a;
DELETE FROM part USING (SELECT 1 AS x UNION ALL SELECT 2) u;

SELECT 'several columns from a subquery' AS next;
CREATE TABLE m (a int PRIMARY KEY, b int, c text, g int GENERATED ALWAYS AS (b + 1) STORED);
CREATE TABLE ms (k int, x int, y text);
INSERT INTO m VALUES (1, 1, 'one'), (2, 2, 'two'), (3, 3, 'three');
INSERT INTO ms VALUES (1, 10, 'ten'), (2, 20, 'twenty');
UPDATE m SET (b, c) = (SELECT x, y FROM ms WHERE k = a);
SELECT * FROM m ORDER BY a;
UPDATE m SET (c, b) = (SELECT 'all', max(x) FROM ms), a = a + 10 WHERE a > 1;
SELECT * FROM m ORDER BY a;
UPDATE m SET (b, c) = (SELECT x, y FROM ms);
UPDATE m SET (b, c) = (SELECT x FROM ms);
UPDATE m SET (b, g) = (SELECT x, x FROM ms);
UPDATE m SET (b, c) = (SELECT y, y FROM ms WHERE k = 1);
UPDATE m SET (b, c) = (SELECT x, m.c || '/' || y FROM ms WHERE k = s.k) FROM ms s WHERE a = s.k;
SELECT * FROM m ORDER BY a;
UPDATE m SET (b, c) = ROW (7, 'row') WHERE a = 1;
SELECT * FROM m ORDER BY a;

SELECT 'subqueries in RETURNING and ON CONFLICT' AS next;
INSERT INTO m (a, b) VALUES (50, 1) RETURNING a, (SELECT count(*) FROM m) AS before;
UPDATE m SET b = 2 WHERE a = 50 RETURNING b, (SELECT max(b) FROM m) AS old, EXISTS (SELECT 1 FROM m WHERE b = 2) AS e;
DELETE FROM m WHERE a = 50 RETURNING (SELECT count(*) FROM m);
INSERT INTO m (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET b = (SELECT max(x) FROM ms) WHERE m.b < (SELECT 100) RETURNING a, b;

SELECT 'tables that reference themselves' AS next;
CREATE TABLE tree (id int PRIMARY KEY, up int REFERENCES tree ON DELETE CASCADE ON UPDATE CASCADE, a int);
INSERT INTO tree VALUES (1, NULL, 1), (2, 1, 2), (3, 2, 3), (4, 1, 4), (5, 4, 5);
MERGE INTO tree USING (VALUES (2), (7)) v (k) ON id = k WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (k, 5);
SELECT * FROM tree ORDER BY id;
MERGE INTO tree USING (VALUES (7, 1), (4, 2), (9, 3)) v (k, x) ON id = k WHEN MATCHED AND x = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET id = 40 WHEN NOT MATCHED THEN INSERT VALUES (k, 70);
MERGE INTO tree USING (VALUES (7, 1), (4, 2), (9, 3)) v (k, x) ON id = k WHEN MATCHED AND x = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET id = 40 WHEN NOT MATCHED THEN INSERT VALUES (k, 40);
SELECT * FROM tree ORDER BY id;
CREATE VIEW tree_view AS SELECT * FROM tree;
MERGE INTO tree_view USING (VALUES (1)) v (k) ON id = k WHEN MATCHED THEN DELETE;
