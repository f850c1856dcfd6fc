-- Joins that other engines once answered wrongly. The numbers are those of the list of past bugs the
-- engine was designed against.
create table l (id int, k int, v int);
create table r (id int, k int, w int);
insert into l select i, case when i % 17 = 0 then null else i % 50 end, i from generate_series(1, 400) i;
insert into r select i, case when i % 13 = 0 then null else i % 70 + 20 end, i from generate_series(1, 300) i;
create table empty (k int, w int);
create table nonull as select * from r where k is not null;

-- 1: NOT IN, NULL on the outer side
select count(*), count(k), sum(id) from l where k not in (select k from nonull);
select count(*) from l where k not in (select k from nonull where w < 0);
select count(*), sum(id) from l where k not in (select k from nonull where k > 1000);

-- 2: NOT IN, NULL in the subquery
select count(*), sum(id) from l where k not in (select k from r);
select count(*), sum(id) from l where k not in (select k from r where w % 13 = 0);
select count(*) from l where (k not in (select k from r)) is null;

-- 3: null-safe equality keeps NULL = NULL
select count(*), sum(l.id), sum(r.id) from l join r on l.k is not distinct from r.k;
select count(*), count(r.id), sum(l.id) from l left join r on l.k is not distinct from r.k;

-- 4: a null-safe join above a left join
select count(*), count(x.w) from (select l.id, r.w from l left join r on l.k = r.k and r.id < 40) x join empty e on false right join l on l.id = x.id;
select count(*), sum(x.id) from (select l.id, l.v, r.w from l left join r on l.k = r.k and r.id < 40) x join (values (null::int), (5), (33)) n(w) on x.w is not distinct from n.w;

-- 5: a mark of NULL where nothing matches and the list has NULLs
select m, count(*) from (select k in (select k from r where w % 13 = 0) as m from l) x group by m order by m;
select m, count(*) from (select k in (select k from r) as m from l) x group by m order by m;
select m, count(*) from (select k in (select k from empty) as m from l) x group by m order by m;
select count(*) from r where exists (select from l where l.k = r.k) is null;
select m, count(*) from (select k in (select k from r where k is null or k > 1000) as m from l) x group by m order by m;
select m, count(*) from (select (k, id) in (select k, id from r where w % 13 = 0 or w < 9) as m from l) x group by m order by m;
select m, count(*) from (select k in (select r.k from r where r.w % 7 = l.v % 7) as m from l) x group by m order by m;
select m, count(*) from (select not (k in (select k from r where w % 26 = 0)) as m from l where k is not null) x group by m order by m;

-- 6: filters and outer joins
select count(*), count(l.id), sum(r.id) from l right join r on l.k = r.k and l.v < 60;
select count(*), count(l.id), count(r.id), sum(r.id) from l full join r on l.k = r.k where l.id is null or r.w > 100;
select count(*), count(l.id), sum(s.id) from l right join r on l.k = r.k right join r s on s.id = r.id and l.v > 390;

-- 13: a condition above a left join is not one of the join
select count(*), sum(l.id) from l left join r on l.k = r.k where r.k is null;
select count(*), sum(l.id) from l left join nonull r on l.k = r.k and r.w > 200 where r.w is null;

-- 15: value types that differ from the key's
create table narrow (a smallint, b integer, c bigint, d date, t timestamp, n numeric(10,2), f double precision);
insert into narrow select i, i - 50, i * 1000000000::bigint, date '2024-01-01' + i, timestamp '2024-01-01 12:00' + i * interval '12 hours', i / 4.0, i / 4.0 from generate_series(1, 120) i;
select count(*), sum(x.c) from narrow x join narrow y on x.a = y.b;
select count(*), sum(x.a) from narrow x join narrow y on x.c = y.b;
select count(*), sum(x.a) from narrow x join narrow y on x.b = y.n;
select count(*), sum(x.a) from narrow x join narrow y on x.n = y.f;
select count(*), sum(x.a) from narrow x join narrow y on x.d = y.t;
select count(*), sum(x.a) from narrow x where x.c in (select b from narrow);

-- 16: char(n) and varchar, trailing blanks
create table fixed (c char(6), v varchar(6), t text);
insert into fixed select 'a' || i % 7 || repeat(' ', i % 3), 'a' || i % 7 || repeat(' ', i % 3), 'a' || i % 7 || repeat(' ', i % 3) from generate_series(1, 60) i;
select count(*) from fixed x join fixed y on x.c = y.c;
select count(*) from fixed x join fixed y on x.v = y.v;
select count(*) from fixed x join fixed y on x.c = y.v;
select count(*) from fixed x join fixed y on x.t = y.v;

-- 17: zeros and NaN
create table floats (f double precision, g real, k int);
insert into floats values (0, 0, 1), ('-0', '-0', 2), ('NaN', 'NaN', 3), ('-NaN', 'NaN', 4), (1.5, 1.5, 5), (null, null, 6), ('Infinity', '-Infinity', 7);
select x.k, y.k from floats x join floats y on x.f = y.f order by 1, 2;
select x.k, y.k from floats x join floats y on x.g = y.f order by 1, 2;
select x.k, y.k from floats x join floats y on x.f = y.f and x.g = y.g order by 1, 2;
select k from floats where f in (select 0::double precision) order by k;
select x.k, y.k from floats x left join (select f, g, k from floats where f = 0 and g = 0) y on x.f = y.f and x.g = y.g order by 1, 2;

-- 18: the least and the greatest of strings are those of the bytes
create table words (t text, v int);
insert into words select s || i % 9, i from generate_series(1, 90) i, (values ('a'), ('B'), ('Z'), ('é'), ('ß'), (''), (' '), ('日本'), ('a '), ('~')) s(s);
select count(*), min(x.t), max(x.t), sum(x.v) from words x join (values ('B1'), ('é2'), ('日本3'), ('~4'), ('1')) y(t) on x.t = y.t;
select count(*), min(x.t), max(x.t) from words x join (values ('Z'), ('é')) y(t) on x.t > y.t and x.v > 80;
select count(*), sum(x.v) from words x where x.t not in (select t from words where t < 'é' and v > 5);

-- 22: negative numbers of several widths
create table n2 (a smallint);
create table n4 (a integer);
create table n8 (a bigint);
create table nn (a numeric);
insert into n2 select i from generate_series(-100, 100, 3) i;
insert into n4 select i from generate_series(-100, 100, 2) i;
insert into n8 select i from generate_series(-100, 100) i;
insert into nn select i + 0.00 from generate_series(-100, 100, 5) i;
select count(*), sum(n2.a) from n2 join n4 on n2.a = n4.a;
select count(*), sum(n2.a) from n4 join n8 on n4.a = n8.a join n2 on n2.a = n8.a;
select count(*), sum(n8.a) from n8 join nn on n8.a = nn.a;
select count(*), sum(x.v) from (select i::numeric(8,1) as n, i as v from generate_series(-50, 50) i) x join (select i::numeric(12,4) as n from generate_series(-20, 20, 4) i) y on x.n = y.n;

-- 21: filters and casts to narrower types
create table wide (c bigint, n numeric, f double precision, t timestamp, s text);
insert into wide select i * 40000::bigint, i / 8.0, i / 8.0, timestamp '2024-01-01' + i * interval '5 hours', i::text from generate_series(-300, 300) i;
select count(*), sum(x.c) from wide x join narrow y on (x.c / 40000)::smallint = y.a;
select count(*), sum(x.c) from wide x join narrow y on (x.c % 32768)::smallint = y.a;
select count(*), sum(x.c) from wide x join narrow y on x.n::int = y.b;
select count(*), sum(x.c) from wide x join narrow y on x.f::smallint = y.a;
select count(*), sum(x.c) from wide x join narrow y on x.t::date = y.d;
select count(*), sum(x.c) from wide x join narrow y on x.s::int = y.b;
select count(*), sum(x.c) from wide x join narrow y on x.n::numeric(6,1) = y.n;
select count(*), sum(x.c) from wide x join narrow y on x.f::real = y.f;
select count(*) from wide x join narrow y on x.c::smallint = y.a;

-- 23: keys of several columns in few rows and in many
select count(*), sum(l.id) from l where (k, v % 5) in (select k, w % 5 from r where w < 30);
select count(*), sum(l.id) from l where (k, v % 5) in (values (3, 3), (4, 4), (null, 1), (5, null));
select count(*), sum(l.id) from l where (v % 5, k) in (select w % 5, k from r);
select count(*), sum(l.id) from l where row(k, v % 5, 'x' || v % 3) not in (select k, w % 5, 'x' || w % 3 from r where k is not null);
select count(*), sum(x.id) from l x join (select k, 'x' || w % 3 as t from r where w < 50) y on (x.k, 'x' || x.v % 3) = (y.k, y.t);

-- 24: timestamps with and without time zone
set timezone = 'Europe/Berlin';
-- The answers are those of PostgreSQL with enable_mergejoin off: its merge join fails here.
create table tz (a timestamptz, d date, t timestamp);
insert into tz select timestamptz '2024-03-30 22:30+00' + i * interval '30 minutes', date '2024-03-30' + i / 20, timestamp '2024-03-30 23:30' + i * interval '30 minutes' from generate_series(0, 60) i;
select count(*), min(x.a), max(x.a) from tz x join tz y on x.a = y.t;
select count(*) from tz x join tz y on x.a = y.d;
prepare by_zone as select count(*) from tz x join tz y on x.a = y.t where x.a < timestamp '2024-03-31 03:00';
execute by_zone;
set timezone = 'UTC';
execute by_zone;
reset timezone;

-- 25: timestamps of other precisions
create table precise (a timestamp(0), b timestamp(3), c timestamp);
insert into precise select t, t, t from (select timestamp '2024-05-01 10:00' + i * interval '250.4 milliseconds' as t from generate_series(0, 200) i) x;
select count(*) from precise x join precise y on x.a = y.c;
select count(*) from precise x join precise y on x.b = y.c;
select count(*) from precise x join (select distinct a from precise) y on date_trunc('second', x.c) = y.a;
select count(*) from precise x join (select distinct a from precise) y on x.c::timestamp(0) = y.a;
select count(s.c), min(s.c) from (select distinct a from precise) x left join lateral (select c from precise p where p.b = x.a order by c limit 1) s on s.c >= x.a;

-- 27: nothing of a join goes below a LIMIT
select count(*) from (select * from l order by id limit 20) x join r on x.k = r.k;
select count(*) from (select * from l order by id offset 380) x join r on x.k = r.k;
select count(*), sum(x.v) from (select k, max(v) v, count(*) c from l group by k) x join (values (3), (4)) n(k) using (k);
select count(*), sum(c) from (select k, count(*) over_all, (select count(*) from l) c from l group by k) x join (values (3), (4)) n(k) using (k);

-- 28, 29: UNION ALL below a join
select count(*), sum(u.v) from (select k, v from l union all select 7, w from r union all select k, 0 from nonull) u join (values (7), (25)) n(k) on u.k = n.k;
select count(*), sum(u.v) from (select k, v from l intersect select k, w from r) u join nonull n on u.k = n.k;
select count(*), sum(u.v) from (select k, v from l except select k, w from r) u join nonull n on u.k = n.k and n.w < 50;

-- 33, 35: builds without rows
select count(*), count(e.w) from l left join empty e on l.k = e.k;
select count(*) from l join empty e on l.k = e.k;
select count(*), sum(l.id) from l where not exists (select from empty e where e.k = l.k);
select count(*) from l where k in (select k from empty);
select count(*) from empty e right join l on l.k = e.k;
select count(*) from l full join empty e on l.k = e.k;
select count(*), sum(id) from l where k not in (select k from empty);

-- 34: a volatile build expression has one value per row
create sequence volatile;
select count(*) = count(distinct x.n) and min(x.n) = 1 and max(x.n) = 50 from (select nextval('volatile') n from generate_series(1, 50)) x join generate_series(1, 1000) g(n) on g.n = x.n;
select nextval('volatile');

-- 36, 38: rescans
select sum(c) from (values (1), (2), (3)) o(x), lateral (select count(*) c from l join r on l.k = r.k where l.v % 4 = o.x) i;
select o.x, i.c from (values (1), (null), (3)) o(x) left join lateral (select l.id c from l join r on l.k = r.k and l.v = o.x * 21 and r.w < 40) i on i.c > 20 order by 1, 2;
select (select count(*) from l join r on l.k = r.k where r.w < o.x) from generate_series(0, 300, 100) o(x);
select o.x, i.c from generate_series(1, 4) o(x) left join lateral (select l.v, count(*) c from l join r on l.k = r.k where l.v % 4 = o.x and l.v < 40 group by l.v) i on i.v > 20 and i.c is not null order by 1, 2, i.v;

-- 37: one build for two scans, bushy
select count(*) from (select l.k, r.id from l join r on l.k = r.k where r.w < 60) a join (select x.k, y.id from l x join nonull y on x.k = y.k where y.w > 250) b on a.k = b.k;
select count(*), sum(a.v + b.v) from l a, l b, nonull c where a.k = c.k and b.k = c.k and c.w < 20;

-- 39: a null-safe and a plain key together
select count(*), sum(l.id) from l join r on l.k is not distinct from r.k and l.id = r.id;
select count(*), sum(l.id) from l left join r on l.k is not distinct from r.k and l.id % 40 = r.id % 40 where r.id is null;

-- 43: anti joins with conditions beyond the keys, and of several columns
select count(*), sum(l.id) from l where not exists (select from r where r.k = l.k and r.w > l.v);
select count(*), sum(l.id) from l where (k, id) not in (select k, id from r where k is not null);
select count(*), sum(l.id) from l where (k, id) not in (select k, id from r where w % 13 = 0);
select count(*), sum(l.id) from l where not exists (select from r where r.k = l.k and r.w % 50 = l.v % 50);

-- 44: the keys of joins in other orders, through projections that exchange columns
select count(*), sum(x.id) from l x join r y on x.k = y.k and x.v = y.w join l z on z.v = x.k and z.k = y.w;
select count(*), sum(x.a) from (select k as a, v as b from l) x join (select w as a, k as b from r) y on x.a = y.b and x.b = y.a;
select count(*), sum(x.b) from (select v as b, k as a from l union all select k, v from l) x join (select k as b, w as a from r where w < 70) y on x.b = y.b and x.a = y.a;
select count(*), sum(x.v) from l x join (select r.k, s.k as o from r join r s on r.w = s.k) y on x.v = y.o and x.k = y.k;

-- 46: NOT IN of more rows than memory takes, a single one of them NULL
create table many (k int, v int);
insert into many select case when i = 777 then null else i * 3 end, i from generate_series(1, 1200) i;
select count(*), sum(v) from many where v not in (select k from many);
select count(*), sum(v) from many where k not in (select v from many);
select count(*), sum(v) from many where k not in (select v from many where v < 0);
select m, count(*) from (select v in (select k from many) as m from many) x group by m order by m;
select count(*), sum(v) from many where v not in (select k from many where k is not null) and v < 900;

-- 47, 48: outer joins with conditions beyond the keys
select count(*), count(r.id), sum(r.w), sum(l.v) from l left join r on l.k = r.k and r.w <> l.v and r.w < 150;
select count(*), count(l.id), count(r.id), sum(r.w), sum(l.v) from l full join r on l.k = r.k and r.w % 7 = l.v % 7;
select count(*), sum(l.id) from l where not exists (select from n4 where n4.a = l.k);
select count(*), count(n.a) from l left join n4 n on n.a = l.k;
create table once (a int primary key, b int);
insert into once select i * 2, i from generate_series(1, 1100) i;
select count(*), sum(v) from many where not exists (select from once where once.a = many.k);
select count(*), count(a), count(k), sum(v), sum(b) from many full join once on a = k;
select count(*), count(k), sum(b) from many right join once on a = k and v > 100;
select count(*), count(a), sum(v) filter (where a is null), sum(v) filter (where b is null) from many left join once on a = k;

-- 50: what a LIMIT leaves unread, with conditions beyond the keys
select count(*) from (select l.id from l join r on l.k = r.k and r.w <> l.v limit 700) x;
select count(*) from (select l.id, r.id from l full join r on l.k = r.k and r.w % 7 = l.v % 7 limit 150) x;
select count(*) from (select v from many where exists (select from once where a = k and b <> v) limit 200) x;

-- 52: the next run begins while the last one is half read
select x.a, (select count(*) from (select from l join r on l.k = r.k and r.w > x.a limit 37) i) from generate_series(0, 320, 40) x(a) order by 1;
select x.a, (select count(*) from (select from many join once on a = k and b > x.a limit 150) i), exists (select from many m join once o on o.b = m.v and o.b > x.a * 2) from generate_series(0, 1000, 250) x(a) order by 1;

-- 54: one key with most of the rows
create table hot (k int, v int);
insert into hot select case when i % 10 = 0 then i else 1 end, i from generate_series(1, 3000) i;
select count(*), sum(h.v::bigint) from hot h join hot g on h.k = g.k where g.v < 100;
select count(*), count(g.v), sum(h.v::bigint) from (select * from hot where v <= 200) h left join hot g on h.k = g.k and g.v > h.v;
select count(*), count(h.v) from (select * from hot where v <= 200) h right join hot g on h.k = g.k and g.v < h.v;
select count(*) from hot h where not exists (select from hot g where g.k = h.k and g.v > h.v);
select count(*) from hot where k in (select k from hot where v > 2900);
select count(*), sum(v) from hot where v not in (select k from hot);

-- 57: neither the order nor the sides of conditions matter
select count(*), sum(l.id) from l join r on l.k = r.k and r.w < l.v and l.v < 200;
select count(*), sum(l.id) from l join r on l.v < 200 and l.v > r.w and r.k = l.k;
select count(*), sum(l.id) from l join r on 200 > l.v and r.k = l.k and r.w < l.v;

-- 60: a text key against an expression that is NULL
select count(*) from fixed x join fixed y on x.t is not distinct from nullif(y.t, y.t);
select count(*) from (select nullif(t, 'a1') t from fixed) x join fixed y on x.t is not distinct from nullif(y.t, 'a1');
select count(*) from (select nullif(t, 'a1') t from fixed) x left join fixed y on x.t = nullif(y.t, 'a2') where y.t is null;
