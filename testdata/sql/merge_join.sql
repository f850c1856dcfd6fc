-- Merge joins: what they yield does not depend on how the inputs come in order.
set enable_hashjoin = off;
set enable_nestloop = off;
set enable_mergejoin = on;
create table l (id int, k int, t text, n numeric(10,2), f float8);
create table r (id int, k bigint, t varchar(20), n numeric(12,4), f float8);
insert into l values (1, 1, 'a', 1.50, 1), (2, 1, 'b', 2.00, 'NaN'), (3, 2, 'b', 2.50, '-0'), (4, null, 'c', null, null),
  (5, 5, null, 5, 5), (6, 7, 'Z', -1, 0), (7, null, null, 3, 'NaN'), (8, 2, 'ä', 2, '-Infinity');
insert into r values (10, 1, 'b', 2, 0), (11, 2, 'b', 2.5, 'NaN'), (12, 2, 'z', 1.5, 1), (13, null, 'c', 3, null),
  (14, 6, 'c', null, '-Infinity'), (15, null, null, 2.0001, 5), (16, 7, 'Z', -1, '-0'), (17, 1, 'ä', 5, 5);
-- every kind
select l.id, r.id from l join r on l.k = r.k order by 1, 2;
select l.id, r.id from l left join r on l.k = r.k order by 1, 2;
select l.id, r.id from l right join r on l.k = r.k order by 1, 2;
select l.id, r.id from l full join r on l.k = r.k order by 1, 2;
select l.id from l where exists (select from r where r.k = l.k) order by 1;
select l.id from l where not exists (select from r where r.k = l.k) order by 1;
select l.id from l where l.k in (select k from r) order by 1;
select l.id from l where l.k not in (select k from r where k is not null) order by 1;
select l.id from l where l.k not in (select k from r) order by 1;
-- conditions besides the keys
select l.id, r.id from l join r on l.k = r.k and l.n < r.n order by 1, 2;
select l.id, r.id from l left join r on l.k = r.k and l.t = r.t and l.n >= r.n order by 1, 2;
select l.id, r.id from l right join r on l.k = r.k and l.n >= r.n order by 1, 2;
select l.id, r.id from l full join r on l.k = r.k and l.id + r.id > 13 order by 1, 2;
select l.id from l where exists (select from r where r.k = l.k and r.n > l.n) order by 1;
select l.id from l where not exists (select from r where r.k = l.k and r.n > l.n) order by 1;
select l.id, r.id from l left join r on l.k = r.k and l.id > 1 where r.id is null order by 1, 2;
-- several keys, keys of other types
select l.id, r.id from l join r on l.k = r.k and l.t = r.t order by 1, 2;
select l.id, r.id from l full join r on l.t = r.t and l.k = r.k order by 1, 2;
select l.id, r.id from l join r on l.t = r.t order by 1, 2;
select l.id, r.id from l join r on l.n = r.n order by 1, 2;
select l.id, r.id from l full join r on l.f = r.f order by 1, 2;
select l.id, r.id from l join r on l.k + 1 = r.k order by 1, 2;
-- orders of the inputs, and of the result
create index on l (k) include (id);
create index on r (k desc nulls last) include (id);
create index on l (t, k);
create index on r (t, k);
set enable_seqscan = off;
select l.k, r.k from l join r on l.k = r.k order by l.k;
select l.k, r.k from l join r on l.k = r.k order by r.k desc;
select l.k, r.k from l left join r on l.k = r.k order by l.k nulls first;
select l.k, r.k from l left join r on l.k = r.k order by l.k desc nulls last;
select l.k from l where exists (select from r where r.k = l.k) order by l.k desc;
select l.k, l.t, r.t from l left join r on l.t = r.t and l.k = r.k order by l.k, l.t;
select l.k, count(*) from l join r on l.k = r.k group by l.k order by l.k;
select l.k, r.k from l join r on l.k = r.k order by l.k limit 2;
select l.k, r.k from l join r on l.k = r.k order by l.k desc offset 2 limit 3;
select l.k, r.k from l full join r on l.k = r.k order by l.k, r.k limit 20;
-- joins of joins
select a.k, b.k, c.k from l a join r b on a.k = b.k join l c on c.k = b.k order by a.k;
select a.k, b.k, c.k from l a left join r b on a.k = b.k left join l c on c.k = a.k order by a.k, b.k, c.k;
select a.k, b.k, c.k from l a full join r b on a.k = b.k full join l c on c.k = coalesce(a.k, b.k) order by 1, 2, 3;
select x.k, y.s from (select k from l order by k) x join (select k, sum(n) as s from r group by k) y on x.k = y.k order by 1, 2;
-- inputs without rows
select l.id, r.id from l join r on l.k = r.k where l.id > 100;
select l.id, r.id from l left join (select * from r where id < 0) r on l.k = r.k order by 1;
select l.id, r.id from (select * from l where id < 0) l full join r on l.k = r.k order by 2;
select l.id from l where not exists (select from r where r.k = l.k and r.id < 0) order by 1;
-- groups of equal keys
insert into l select 100 + i, 50, 'g', i, i from generate_series(1, 300) i;
insert into r select 1000 + i, 50, 'g', i, i from generate_series(1, 400) i;
select count(*), sum(l.id), sum(r.id) from l join r on l.k = r.k;
select count(*), sum(l.id), sum(r.id) from l full join r on l.k = r.k and l.n = r.n + 350;
select count(*), sum(l.id) from l where exists (select from r where r.k = l.k and r.n > l.n + 200);
select count(*) from l join r on l.t = r.t and l.k = r.k;
-- rows that are locked or changed
begin;
select l.id, r.id from l join r on l.k = r.k where l.id < 4 order by 1, 2 for update;
update l set n = r.n from r where l.k = r.k and r.id = 10;
select id, n from l where id < 4 order by id;
delete from l using r where l.k = r.k and r.id = 16;
select count(*) from l;
rollback;
-- errors of either side
select count(*) from (select 1 / (k - 5) as d, k from l order by k) l join r on l.k = r.k where l.d < 9;
select count(*) from l join r on l.k = r.k and 1 / (r.id - 10) < 9;
drop table l, r;
