-- Numeric time zones, what a session forgets, and where relations are created.
set time zone -5; show time zone; select timestamptz '2024-01-01 00:00+00';
set time zone '-5'; select timestamptz '2024-01-01 00:00+00';
set timezone = 5.5; show time zone; select timestamptz '2024-01-01 00:00+00';
set time zone '+3'; select timestamptz '2024-01-01 00:00+00';
set time zone interval '-08:00' hour to minute; show time zone; select timestamptz '2024-01-01 00:00+00', timestamp '2024-01-01 00:00'::timestamptz;
set time zone 'UTC+3'; show time zone; select timestamptz '2024-01-01 00:00+00';
set time zone 'EST5'; show time zone; select timestamptz '2024-01-01 00:00+00';
set time zone '<X>-2:30'; show time zone; select timestamptz '2024-01-01 00:00+00', date_trunc('day', timestamptz '2024-01-01 00:00+00');
set time zone 20; show time zone; select timestamptz '2024-01-01 00:00+00';
set time zone -20.5; show time zone; select timestamptz '2024-01-01 00:00+00';
set time zone default; create sequence s; select nextval('s'); discard sequences; select currval('s'); select lastval();
select nextval('s'); discard all; select lastval();
create temp table tp(a int) partition by list(a) on commit delete rows; create temp table tp1 partition of tp default; begin; insert into tp values (1); commit; select * from tp;
create temp table td(a int) on commit delete rows; begin; insert into td values (1); select * from td; commit; select * from td;
set search_path = nosuch, public; create table cs(a int); select * from public.cs; create table csa as select 1 as x; create view csv as select 1 as x; create sequence css; select * from public.csa, public.csv;
set search_path = nosuch; create table cs2(a int); reset search_path;
set search_path to "$user", public; create table cs3(a int); select * from public.cs3; reset search_path; drop table cs, csa, cs3; drop view csv;
