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

-- 47, 48: outer joins with conditions beyond the keys
select count(*), count(r.id), sum(r.w), sum(l.v) from l left join r on l.k = r.k and r.w <> l.v and r.w < 150;
select count(*), count(l.id), count(r.id), sum(r.w), sum(l.v) from l full join r on l.k = r.k and r.w % 7 = l.v % 7;
select count(*), sum(l.id) from l where not exists (select from n4 where n4.a = l.k);
select count(*), count(n.a) from l left join n4 n on n.a = l.k;

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
