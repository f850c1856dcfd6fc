\echo indexes of expressions and parts, and what ALTER TABLE does to them
create table t (id int primary key, a int, b text, c numeric(8,2));
insert into t select g, g % 7, 'name ' || g, g / 4.0 from generate_series(1, 40) g;
create index t_lower on t (lower(b), a desc nulls last) include (c);
create unique index t_part on t ((a * 100 + id)) where a > 2;
create index t_sum on t ((c + id));
select id, b from t where lower(b) = 'name 7';
\echo types
alter table t alter a type bigint, alter c type numeric(12,3);
select id from t where a * 100 + id = 404 and a > 2;
select id, c from t where c + id = 5;
alter table t alter b type varchar(20);
select id from t where lower(b) = 'name 9';
alter table t alter id type text;
alter table t alter id type bigint;
select id from t where c + id between 5 and 7 order by 1;
\echo names
alter table t rename b to bb;
alter table t rename to t2;
select id from t2 where lower(bb) = 'name 11';
insert into t2 values (100, 5, 'Name 100', 1), (101, 5, 'x', 2);
select id from t2 where lower(bb) = 'name 100';
alter table t2 set schema pg_temp;
create schema s;
alter table t2 set schema s;
select id from s.t2 where lower(bb) = 'name 12';
alter table s.t2 set schema public;
\echo copies
create table copy (like t2 including all);
insert into copy select * from t2;
select id from copy where lower(bb) = 'name 13';
insert into copy values (1000, 5, 'y', 1), (1000, 5, 'y', 1);
alter table copy drop column c;
select id from copy where lower(bb) = 'name 14';
\echo constraints of indexes
create unique index plain on t2 (id, a);
create unique index exprs on t2 ((id + 1));
create unique index nulls on t2 (id nulls first);
create unique index down on t2 (id, bb desc);
alter table t2 add constraint x unique using index t_part;
alter table t2 add constraint x unique using index exprs;
alter table t2 add constraint x unique using index nulls;
alter table t2 add constraint x unique using index down;
alter table t2 add constraint x unique using index t_lower;
alter table t2 add constraint x unique using index plain;
insert into t2 values (100, 5, 'again', 1);
\echo generated columns
create table g (a int, b int generated always as (a * 2) stored);
create index on g (b) where b > 4;
create index on g ((b + a)) include (b);
insert into g select x from generate_series(1, 9) x;
select * from g where b + a = 9;
update g set a = 30 where a = 3;
select * from g where b + a = 90;
select a from g where b > 12 order by b;
alter table g alter a type bigint;
select * from g where b + a = 90;
merge into g using (values (30, 31), (50, 51)) v(k, n) on a = k when matched then update set a = n when not matched then insert (a) values (n);
select * from g where b + a in (93, 153) order by a;
\echo temporary tables
create temp table tmp (a int, b text);
create unique index on tmp (lower(b)) where a > 0;
insert into tmp values (1, 'X'), (0, 'x'), (2, 'y');
insert into tmp values (3, 'Y');
select a from tmp where lower(b) = 'x' and a > 0;
create index concurrently tmp_c on tmp (a);
select a from tmp order by a desc limit 1;
