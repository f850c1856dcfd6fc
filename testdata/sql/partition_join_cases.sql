-- Joins of partitioned tables that other engines once answered wrongly. The numbers are those of the list
-- of past bugs the engine was designed against.
create table d (id int, k int, t text);
insert into d select i, case when i % 9 = 0 then null else i * 3 end, 'd' || i from generate_series(1, 30) i;

-- 7, 9: NULL partition values, and NULL rows in the default partition
create table pl (k int, v int) partition by list (k);
create table pl_1 partition of pl for values in (3, 6, null);
create table pl_2 partition of pl for values in (12, 15);
create table pl_3 partition of pl default;
insert into pl select case when i % 7 = 0 then null else i % 40 end, i from generate_series(1, 200) i;
create table pd (k int, v int) partition by list (k);
create table pd_1 partition of pd for values in (3, 6);
create table pd_2 partition of pd default;
insert into pd select * from pl;
select count(*), sum(v) from pl join d on pl.k = d.k;
select count(*), sum(v) from pl join d on pl.k is not distinct from d.k;
select count(*), sum(v) from pd join d on pd.k is not distinct from d.k and d.id < 12;
select count(*), sum(v) from pd join d on pd.k = d.k where d.id in (1, 9);
select count(*), sum(v) from pl where k in (select k from d where id > 20);
select count(*), sum(v) from pl where k not in (select k from d where k is not null);
select count(*), sum(v) from pl where k not in (select k from d);

-- 8: boolean keys
create table pb (b boolean, v int) partition by list (b);
create table pb_t partition of pb for values in (true);
create table pb_f partition of pb for values in (false);
create table pb_n partition of pb for values in (null);
insert into pb select case i % 3 when 0 then true when 1 then false end, i from generate_series(1, 30) i;
select count(*), sum(v) from pb where b is not false;
select count(*), sum(v) from pb where b is not true;
select count(*), sum(v) from pb where b is unknown;
select count(*), sum(v) from pb where not b;
select count(*), sum(v) from pb join (values (true)) x(b) on pb.b = x.b;
select count(*), sum(v) from pb join (values (true), (null)) x(b) on pb.b is not distinct from x.b;

-- 10: a key that is NULL for values outside its domain
create table pg (a int, g int) partition by list (a);
create table pg_1 partition of pg for values in (1, 2);
create table pg_2 partition of pg default;
insert into pg values (1, 1), (2, 2), (null, 3), (-1, 4);
select g from pg join (values (null::int), (2)) x(a) on pg.a is not distinct from x.a order by g;
create table pn10 (a int, v int) partition by list ((case when a >= 0 then a / 10 end));
create table pn10_0 partition of pn10 for values in (0, 1);
create table pn10_n partition of pn10 for values in (null);
create table pn10_d partition of pn10 default;
insert into pn10 select i, i from generate_series(-15, 45) i;
insert into pn10 values (null, 100);
select count(*), sum(v) from pn10 join (values (-3), (7), (44)) x(a) on pn10.a = x.a;
select count(*), sum(v) from pn10 join (values (0), (null), (4)) x(d) on (case when pn10.a >= 0 then pn10.a / 10 end) = x.d;
select count(*), sum(v) from pn10 join (values (0), (null)) x(d) on (case when pn10.a >= 0 then pn10.a / 10 end) is not distinct from x.d;
select count(*), sum(v) from pn10 where a < 0;

-- 11: RANGE (a, b), NULLs, bounds at the ends of the type
create table pr (a int, b int, v int) partition by range (a, b);
create table pr_1 partition of pr for values from (minvalue, minvalue) to (-2147483648, 5);
create table pr_2 partition of pr for values from (-2147483648, 5) to (0, minvalue);
create table pr_3 partition of pr for values from (0, minvalue) to (10, 20);
create table pr_4 partition of pr for values from (10, 20) to (2147483647, maxvalue);
create table pr_5 partition of pr default;
insert into pr values (-2147483648, 4, 1), (-2147483648, 5, 2), (-5, null, 3), (0, -9, 4), (10, 19, 5), (10, 20, 6), (2147483647, 7, 7), (null, 1, 8), (null, null, 9);
select v from pr join (values (-2147483648, 5), (10, 20), (0, -9)) x(a, b) using (a, b) order by v;
select v from pr join (values (-2147483648), (10)) x(a) on pr.a = x.a order by v;
select v from pr join (values (5), (20)) x(b) on pr.b = x.b order by v;
select v from pr join (values (-5, null::int), (null, 1)) x(a, b) on pr.a is not distinct from x.a and pr.b is not distinct from x.b order by v;
select v from pr join (values (0), (10)) x(a) on pr.a > x.a order by v;
select v from pr join (values (-10, 3), (5, 11)) x(lo, hi) on pr.a between x.lo and x.hi order by v;

-- 12: NULLs in hash keys
create table ph (a int, b text, v int) partition by hash (a, b);
create table ph_0 partition of ph for values with (modulus 3, remainder 0);
create table ph_1 partition of ph for values with (modulus 3, remainder 1);
create table ph_2 partition of ph for values with (modulus 6, remainder 2);
create table ph_5 partition of ph for values with (modulus 6, remainder 5);
insert into ph select nullif(i % 8, 3), nullif('t' || i % 5, 't2'), i from generate_series(1, 200) i;
select count(*), sum(v) from ph where a is null;
select count(*), sum(v) from ph where a is null and b is null;
select count(*), sum(v) from ph join (values (1, 't1'), (3, 't3'), (5, null)) x(a, b) on ph.a = x.a and ph.b = x.b;
select count(*), sum(v) from ph join (values (1, 't1'), (null, 't3'), (5, null)) x(a, b) on ph.a is not distinct from x.a and ph.b is not distinct from x.b;
select count(*), sum(v) from ph join (values (1), (4)) x(a) on ph.a = x.a and ph.b = 't4';
select count(*), sum(v) from ph p where not exists (select from (values (1, 't1'), (null, 't3')) x(a, b) where p.a = x.a and p.b = x.b);
select count(*), sum(v) from ph p where not exists (select from (values (null::int)) x(a) where p.a is not distinct from x.a);
select count(*), sum(v) from ph where a is null or b is null;
select count(*), sum(v) from ph join (values (null::int, null::text), (4, 't4')) x(a, b) on ph.a is not distinct from x.a and ph.b is not distinct from x.b;

-- 26: <> and NOT IN on hash keys
select count(*), sum(v) from ph where a <> 1;
select count(*), sum(v) from ph where a not in (1, 2, 4);
select count(*), sum(v) from ph join (values (1)) x(a) on ph.a <> x.a;

-- 13: a condition above an outer join
select count(*), sum(id) from d left join pl on pl.k = d.k where pl.k is null;
select count(*), count(d.id), sum(v) from pl left join d on pl.k = d.k where d.k is null;
select count(*), count(pl.v), count(d.id) from pl full join d on pl.k = d.k;
select count(*), count(pl.v), sum(d.id) from pl right join d on pl.k = d.k;

-- 15, 59: value types that differ from the key's
create table pi (k int, v int) partition by range (k);
create table pi_1 partition of pi for values from (0) to (10);
create table pi_2 partition of pi for values from (10) to (20);
create table pi_3 partition of pi for values from (20) to (maxvalue);
insert into pi select i % 40, i from generate_series(1, 120) i;
select count(*), sum(v) from pi join (values (5::bigint), (25), (99999999999)) x(k) on pi.k = x.k;
select count(*), sum(v) from pi join (values (5::smallint), (15)) x(k) on pi.k = x.k;
select count(*), sum(v) from pi join (values (5.0), (15.5), (25.00)) x(k) on pi.k = x.k;
select count(*), sum(v) from pi join (values (5.0::float8), (15.5), ('NaN'), ('Infinity')) x(k) on pi.k = x.k;
select count(*), sum(v) from pi join (values (15.5)) x(k) on pi.k < x.k;
select count(*), sum(v) from pi join (values (15.5), ('Infinity'::float8)) x(k) on pi.k > x.k;
create table pbig (k bigint, v int) partition by range (k);
create table pbig_1 partition of pbig for values from (minvalue) to (9007199254740993);
create table pbig_2 partition of pbig for values from (9007199254740993) to (maxvalue);
insert into pbig values (9007199254740992, 1), (9007199254740993, 2), (5, 3);
select v from pbig join (values (9007199254740992::float8)) x(k) on pbig.k = x.k order by v;
select v from pbig join (values (9007199254740993)) x(k) on pbig.k = x.k order by v;
create table pn (k numeric(10,2), v int) partition by list (k);
create table pn_1 partition of pn for values in (0.25, 0.50);
create table pn_2 partition of pn default;
insert into pn values (0.25, 1), (0.5, 2), (0.3, 3), (null, 4);
select v from pn join (values (0.25::float8), (0.3)) x(k) on pn.k = x.k order by v;
select v from pn join (values (0.250000), (0.3), (0.305)) x(k) on pn.k = x.k order by v;
set timezone = 'Europe/Berlin';
create table pt (k timestamp, v int) partition by range (k);
create table pt_1 partition of pt for values from (minvalue) to ('2024-03-31 02:30');
create table pt_2 partition of pt for values from ('2024-03-31 02:30') to ('2024-10-27 02:30');
create table pt_3 partition of pt for values from ('2024-10-27 02:30') to (maxvalue);
insert into pt select timestamp '2024-03-31 00:00' + i * interval '15 minutes', i from generate_series(0, 20) i;
insert into pt select timestamp '2024-10-27 01:00' + i * interval '15 minutes', 100 + i from generate_series(0, 12) i;
select count(*), sum(v) from pt join (values (timestamptz '2024-03-31 00:30+00'), ('2024-03-31 01:30+00'), ('2024-10-27 00:45+00'), ('2024-10-27 01:15+00')) x(k) on pt.k = x.k;
select count(*), sum(v) from pt join (values (date '2024-03-31'), ('2024-10-28')) x(k) on pt.k = x.k;
select count(*), sum(v) from pt join (values (timestamptz '2024-10-27 00:45+00')) x(k) on pt.k >= x.k;
create table pdate (k date, v int) partition by range (k);
create table pdate_1 partition of pdate for values from ('2024-01-01') to ('2024-01-11');
create table pdate_2 partition of pdate for values from ('2024-01-11') to ('2024-02-01');
insert into pdate select date '2024-01-01' + i % 31, i from generate_series(0, 61) i;
select count(*), sum(v) from pdate join (values (timestamp '2024-01-05'), ('2024-01-12 00:00:01')) x(k) on pdate.k = x.k;
select count(*), sum(v) from pdate join (values (timestamptz '2024-01-05 00:00'), ('2024-01-12 00:00+00')) x(k) on pdate.k = x.k;
select count(*), sum(v) from pdate join (values (timestamp '2024-01-20 12:00')) x(k) on pdate.k > x.k;
create table ptz (k timestamptz, v int) partition by range (k);
create table ptz_1 partition of ptz for values from (minvalue) to ('2024-03-31 01:00+00');
create table ptz_2 partition of ptz for values from ('2024-03-31 01:00+00') to ('2024-10-27 00:30+00');
create table ptz_3 partition of ptz for values from ('2024-10-27 00:30+00') to ('2024-10-27 01:15+00');
create table ptz_4 partition of ptz default;
insert into ptz select timestamptz '2024-03-30 23:00+00' + i * interval '15 minutes', i from generate_series(0, 20) i;
insert into ptz select timestamptz '2024-10-26 22:00+00' + i * interval '15 minutes', 100 + i from generate_series(0, 20) i;
insert into ptz values (null, 1000), ('infinity', 2000), ('-infinity', 3000);
select count(*), sum(v) from ptz join (values (timestamp '2024-03-31 01:30'), ('2024-03-31 02:30'), ('2024-03-31 03:30'), ('2024-10-27 02:30'), ('2024-10-27 03:00')) x(k) on ptz.k = x.k;
select count(*), sum(v) from ptz join (values (date '2024-03-31'), ('2024-10-27'), (null)) x(k) on ptz.k = x.k;
select count(*), sum(v) from ptz join (values (timestamp '2024-10-27 02:15')) x(k) on ptz.k >= x.k;
select count(*), sum(v) from ptz join (values (date '2024-03-31', date '2024-04-01')) x(a, b) on ptz.k >= x.a and ptz.k < x.b;
select count(*), sum(v) from ptz join (values (timestamp 'infinity'), ('-infinity')) x(k) on ptz.k = x.k;
set timezone = 'America/New_York';
select count(*), sum(v) from ptz join (values (timestamp '2024-03-30 20:30'), ('2024-10-26 21:00')) x(k) on ptz.k = x.k;
select count(*), sum(ptz.v) from ptz join pt on ptz.k = pt.k;
set timezone = 'Europe/Berlin';
select count(*), sum(ptz.v), sum(pt.v) from ptz join pt on ptz.k = pt.k;
select count(*), sum(v) from pdate join (select k from ptz union all select timestamptz '2024-01-20 00:00') x using (k);

-- 24: the session's time zone changes between executions
prepare zoned as select count(*), sum(v) from pt where k >= timestamptz '2024-10-27 00:45+00';
execute zoned;
set timezone = 'UTC';
execute zoned;
prepare zoned_join as select count(*), sum(v) from pt join (values (timestamptz '2024-03-31 00:30+00')) x(k) on pt.k = x.k;
execute zoned_join;
set timezone = 'Europe/Berlin';
execute zoned_join;
reset timezone;

-- 25: date_trunc
select count(*), sum(v) from pt join (values (timestamp '2024-03-31 02:00')) x(k) on date_trunc('hour', pt.k) = x.k;

-- 16: char(n)
create table pc (c char(4), v int) partition by list (c);
create table pc_1 partition of pc for values in ('a', 'b  ');
create table pc_2 partition of pc for values in ('c');
create table pc_3 partition of pc default;
insert into pc select substr('abcde', i % 5 + 1, 1) || repeat(' ', i % 3), i from generate_series(1, 50) i;
select count(*), sum(v) from pc join (values ('a '::char(4)), ('c')) x(c) on pc.c = x.c;
select count(*), sum(v) from pc join (values ('a '::varchar), ('c')) x(c) on pc.c = x.c;
select count(*), sum(v) from pc join (values ('a '::text), ('c')) x(c) on pc.c = x.c;

-- 14, 20: joins by another equality than that of the partitions
create table pv (c varchar(6), v int) partition by list (c);
create table pv_1 partition of pv for values in ('a', 'b  ');
create table pv_2 partition of pv for values in ('a ', 'b');
create table pv_3 partition of pv default;
insert into pv select substr('abcde', i % 5 + 1, 1) || repeat(' ', i % 3), i from generate_series(1, 50) i;
create table pvh (c varchar(6), v int) partition by hash (c);
create table pvh_0 partition of pvh for values with (modulus 3, remainder 0);
create table pvh_1 partition of pvh for values with (modulus 3, remainder 1);
create table pvh_2 partition of pvh for values with (modulus 3, remainder 2);
insert into pvh select * from pv;
select count(*), sum(v) from pv join (values ('a'::char(4)), ('b')) x(c) on pv.c = x.c;
select count(*), sum(v) from pv join (values ('a'::varchar), ('b')) x(c) on pv.c = x.c;
select count(*), sum(v) from pv join (values ('a'::text), ('b ')) x(c) on pv.c = x.c;
select count(*), sum(v) from pvh join (values ('a'::char(4)), ('b')) x(c) on pvh.c = x.c;
select count(*), sum(pc.v), sum(pv.v) from pc join pv on pc.c = pv.c;
select count(*), sum(pc.v), sum(pvh.v) from pc join pvh on pc.c = pvh.c;
select count(*), count(pc.v), count(pv.v) from pc full join pv on pc.c = pv.c;
select count(*), sum(pv.v), sum(pvh.v) from pv join pvh using (c);
select length(c), count(*) from (select c::char(4) as c from pv) x group by c order by 1, 2;
select count(*) from pv where not exists (select from pc where pc.c = pv.c and pc.v < 20);

-- 18: strings as bounds
create table ps (t text, v int) partition by range (t);
create table ps_1 partition of ps for values from (minvalue) to ('Z');
create table ps_2 partition of ps for values from ('Z') to ('é');
create table ps_3 partition of ps for values from ('é') to (maxvalue);
insert into ps select s || i % 9, i from generate_series(1, 90) i, (values ('a'), ('B'), ('Z'), ('é'), ('ß'), (''), ('日本'), ('~')) s(s);
select count(*), sum(v) from ps join (values ('B1'), ('é2'), ('日本3'), ('~4'), ('1')) x(t) using (t);
select count(*), sum(v) from ps join (values ('Z'), ('é')) x(t) on ps.t >= x.t;
select count(*), sum(v) from ps join (values ('É'), ('b')) x(t) on ps.t < x.t;

-- 17: zeros and NaN
create table pf (f float8, v int) partition by range (f);
create table pf_1 partition of pf for values from (minvalue) to (0);
create table pf_2 partition of pf for values from (0) to ('Infinity');
create table pf_3 partition of pf for values from ('Infinity') to (maxvalue);
insert into pf values (-1, 1), ('-0', 2), (0, 3), (1, 4), ('Infinity', 5), ('NaN', 6);
select v from pf join (values ('-0'::float8), ('NaN')) x(f) on pf.f = x.f order by v;
select v from pf join (values (0::float8), ('Infinity')) x(f) on pf.f = x.f order by v;
select v from pf join (values ('-0'::float8)) x(f) on pf.f < x.f order by v;

-- 20: joins and groups of partitioned tables with each other
create table pi2 (k int, w int) partition by range (k);
create table pi2_1 partition of pi2 for values from (0) to (15);
create table pi2_2 partition of pi2 for values from (15) to (100);
insert into pi2 select i * 2, i from generate_series(0, 30) i;
select count(*), sum(v), sum(w) from pi join pi2 using (k);
select count(*), count(w), sum(v) from pi left join pi2 using (k);
select count(*), count(v), count(w) from pi full join pi2 using (k);
select k % 5, count(*), sum(w) from pi join pi2 using (k) group by 1 order by 1;

-- 27, 28, 29: LIMIT and UNION ALL below the join
select count(*), sum(v) from (select * from pi order by v limit 13) x join (values (3), (11)) y(k) using (k);
select count(*), sum(v) from (select * from pi order by v offset 100) x join (values (3), (11)) y(k) using (k);
select count(*), sum(v) from (select k, v from pi union all select 5, w from pi2 union all select k, v from pl) u join (values (5), (12)) y(k) using (k);
select count(*), sum(n) from (select k, count(*) n from pi group by k) g join (values (5), (12)) y(k) using (k);
select count(*), sum(n) from (select count(*) n, 5 k from pi) g join (values (5), (12)) y(k) using (k);
select count(*), sum(v) from (select k, v from pi union all select k, w from pi2 union all select k, id from d union all select k, v from pl union all select 12, v from pd) u join (values (6), (12)) y(k) using (k);
select count(*), sum(v) from (select k, v from pi order by v desc, k limit 20) x join (values (3), (11)) y(k) using (k);

-- 30, 31: two levels
create table p2 (r int, l text, v int) partition by range (r);
create table p2_1 partition of p2 for values from (0) to (10) partition by list (l);
create table p2_1a partition of p2_1 for values in ('a');
create table p2_1b partition of p2_1 for values in ('b', 'c');
create table p2_2 partition of p2 for values from (10) to (20) partition by hash (l, v);
create table p2_2a partition of p2_2 for values with (modulus 2, remainder 0);
create table p2_2b partition of p2_2 for values with (modulus 2, remainder 1);
create table p2_3 partition of p2 for values from (20) to (30);
insert into p2 select i % 30, substr('abc', i % 3 + 1, 1), i from generate_series(1, 300) i;
select count(*), sum(v) from p2 join (values ('a'), ('z')) x(l) using (l) where r = 5;
select count(*), sum(v) from p2 join (values (5, 'a'), (12, 'b'), (25, 'c')) x(r, l) using (r, l);
select count(*), sum(v) from p2 join (values (5), (25)) x(r) using (r) where l = 'b';
select count(*), sum(v) from p2 where r < 10 and l = 'nothing';
select count(*), sum(v) from p2 join (values ('b', 41), ('c', 42)) x(l, v) using (l, v) where r between 10 and 19;
select count(*), sum(v) from p2 join (values (5), (12), (25)) x(r) using (r) where l = 'nothing';
select count(*), sum(v) from p2 join (values ('nothing'), ('b')) x(l) using (l) where r < 20;
select count(*), sum(v) from p2 left join (values (5, 'z'), (7, 'b')) x(r, l) using (r, l) where r < 10;

-- 32, 36: rescans
select x.a, (select count(*) from pi where pi.k = x.a) from (values (5), (null), (15), (25)) x(a) order by 1;
select x.a, s.c from (values (5), (15), (25)) x(a), lateral (select sum(v) c from pi join pi2 using (k) where pi.k < x.a) s order by 1;
select x.a, s.v from (values (5), (15), (null)) x(a) left join lateral (select v from pi where k = x.a order by v limit 1) s on s.v > 4 order by 1;
create index on pi (k, v);
create index on p2 (l, r);
set enable_hashjoin = off;
set enable_mergejoin = off;
select count(*), sum(pi.v) from (values (5), (15), (25), (39), (77), (null)) x(k) join pi on pi.k = x.k and pi.v in (5, 15, 65, 105);
select count(*), sum(p2.v) from (values (5), (15), (25)) x(r) join p2 on p2.r = x.r and p2.l in ('a', 'b');
select count(*), count(p2.v), sum(p2.v) from (values (5), (15), (99)) x(r) left join p2 on p2.r = x.r and p2.l in ('a', 'c') and p2.v > 100;
set enable_hashjoin = on;
set enable_mergejoin = on;
select x.a, (select count(*) from (select from pi join pi2 using (k) where pi.v > x.a limit 20) i) from generate_series(0, 120, 30) x(a) order by 1;

-- 33: no partition is no error
select count(*), count(v) from (values (3), (5000)) x(k) left join (select * from pdate) p on p.v = x.k;
select count(*), count(v) from (values (-3), (5)) x(k) left join pi using (k);
select count(*) from pi join (values (-3), (-5)) x(k) using (k);

-- 35: builds without rows
select count(*), sum(v) from pi join (select k from d where false) x using (k);
select count(*), count(x.id) from pi left join (select k, id from d where id < 0) x using (k);
select count(*), sum(v) from pi where not exists (select from d where d.k = pi.k and id < 0);
select count(*) from d where id < 0 and k in (select k from pi);

-- 37: one build, two scans
select count(*), sum(pi.v + pl.v) from pi, pl, d where pi.k = d.k and pl.k = d.k and d.id between 2 and 4;
select count(*) from (select pi.k from pi join d using (k) where d.id < 5) a join (select pl.k from pl join d using (k) where d.id > 2) b using (k);
select count(*), sum(a.v) from pi a join pi b on a.k = b.k and b.v = 9 join d on d.k = a.k;

-- 45: dropped columns, other orders, new leaves
create table pa (x int, k int, v int) partition by range (k);
create table pa_1 partition of pa for values from (0) to (10);
alter table pa drop column x;
create table pa_2 (v int, gone text, k int);
alter table pa_2 drop column gone;
alter table pa attach partition pa_2 for values from (10) to (20);
create table pa_3 partition of pa for values from (20) to (40);
insert into pa select i % 40, i from generate_series(1, 80) i;
select k, v from pa join (values (5), (15), (25)) x(k) using (k) order by k, v;
update pa set k = pa.k + 10 from (values (5), (15)) x(k) where pa.k = x.k;
select k, v from pa join (values (15), (25)) x(k) using (k) order by k, v;
delete from pa using (values (15), (35)) x(k) where pa.k = x.k;
select count(*), sum(v) from pa;

-- 44: keys in another order than the partitions
create table pab (a int, b int, v int) partition by hash (a, b);
create table pab_0 partition of pab for values with (modulus 2, remainder 0);
create table pab_1 partition of pab for values with (modulus 2, remainder 1);
create table pba (a int, b int, w int) partition by hash (b, a);
create table pba_0 partition of pba for values with (modulus 2, remainder 0);
create table pba_1 partition of pba for values with (modulus 2, remainder 1);
insert into pab select i % 7, i % 11, i from generate_series(1, 150) i;
insert into pba select i % 11, i % 7, i from generate_series(1, 150) i;
select count(*), sum(v), sum(w) from pab join pba on pab.a = pba.b and pab.b = pba.a;
select count(*), sum(v), sum(w) from pab join pba using (a, b);
select count(*), sum(v), sum(w) from pab join pba on pab.a = pba.a and pab.b = pba.b where pba.w < 20;
select count(*), sum(v) from (select b as a, a as b, v from pab) x join (values (3, 4), (5, 6)) y(a, b) using (a, b);
select count(*), sum(x.v), sum(y.v) from pab x join pab y on x.a = y.b and x.b = y.a;

-- 58: a transaction's own rows
begin;
insert into pi values (33, 1000), (3, 2000);
update pi set k = 27 where v = 5;
delete from pi where v = 27;
select count(*), sum(v) from pi join (values (33), (27), (5)) x(k) using (k);
select count(*), sum(v) from pi join pi2 using (k);
rollback;
select count(*), sum(v) from pi join (values (33), (27), (5)) x(k) using (k);
begin;
insert into pi values (25, 5000);
select count(*), sum(v) from pi_3 join (values (25), (5)) x(k) using (k);
select count(*), sum(pi.v) from pi join (select k from pi_2 union all values (25)) x using (k);
create table pkeyed (k int primary key, v int) partition by range (k);
create table pkeyed_1 partition of pkeyed for values from (0) to (50);
create table pkeyed_2 partition of pkeyed for values from (50) to (200);
insert into pkeyed select i, i from generate_series(0, 99) i;
update pkeyed set k = k + 100 where k between 40 and 60;
delete from pkeyed where k = 155;
select count(*), sum(v) from pkeyed join (values (3), (145), (99), (55), (40)) x(k) using (k);
rollback;

-- 19: expressions as keys
create table pe (a int, b text, v int) partition by list ((a % 4));
create table pe_0 partition of pe for values in (0, 1);
create table pe_2 partition of pe for values in (2);
create table pe_3 partition of pe default;
insert into pe select i, 'b' || i, i from generate_series(1, 40) i;
select count(*), sum(v) from pe join (values (2), (3)) x(m) on pe.a % 4 = x.m;
select count(*), sum(v) from pe join (values (6), (9)) x(a) on pe.a = x.a;
create table pu (t text, v int) partition by list (lower(t));
create table pu_a partition of pu for values in ('linpin');
create table pu_b partition of pu default;
insert into pu values ('linpin', 1), ('LINPIN', 2), ('other', 3);
select v from pu join (values ('LINPIN'), ('linpin')) x(t) on pu.t = x.t order by v;
select v from pu join (values ('linpin')) x(t) on lower(pu.t) = x.t order by v;
