create table t (a int primary key, b int, c text);
insert into t select g, g % 10, 'c' || g from generate_series(1, 100) g;
create index concurrently tb on t (b) include (c) where b > 3;
create index concurrently if not exists tb on t (b);
create index concurrently tb on t (b);
create unique index concurrently tu on t ((a + 1));
insert into t values (101, 5, 'x');
insert into t values (101, 5, 'x');
select count(*) from t where b > 8;
begin;
create index concurrently ti on t (c);
rollback;
begin;
drop index concurrently tb;
rollback;
create unique index concurrently bad on t (b) where a > 88 and a <> 91 and a <> 92 and a < 100;
\d t
insert into t values (201, 1, 'y'), (211, 1, 'y');
select count(*) from t where b = 1;
drop index bad;
drop index concurrently tb, tu;
drop index concurrently tb cascade;
drop index concurrently if exists nope;
drop index concurrently nope;
drop index concurrently t_pkey;
drop index concurrently tb;
drop index concurrently tu;
create index concurrently on t (now());
\d t
