create table t (a int not null, b bigint, d date, c text) partition by range (a, lower(c));
create index on t (b);
create table t1 partition of t for values from (-5, 'a''x') to (10, maxvalue) partition by list (d);
create table t11 partition of t1 for values in ('2020-01-01', null);
create table t2 partition of t default;
create table h (a bigint) partition by hash (a);
create table h1 partition of h for values with (modulus 3, remainder 1);
create table b (f bool, n numeric) partition by list (n);
create table b1 partition of b for values in (1.5, 2, -3, 1e3);
create table bb (f bool) partition by list (f);
create table bb1 partition of bb for values in (true);
\d t
\d t1
\d t11
\d t2
\d h
\d h1
\d b1
\d bb1
