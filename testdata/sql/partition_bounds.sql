create table r (a int, b int, c text) partition by range (a, b);
create table r1 partition of r
  for values from (0, 0) to (10, 5);
create table r2 partition of r
  for values from (10, 5) to (20, maxvalue);
create table r0 partition of r
  for values from (minvalue, minvalue) to (0, 0);
create table rx partition of r
  for values from (5, 5) to (5, 5);
create table rx partition of r
  for values from (10, 0) to (30, 5);
create table rx partition of r
  for values from (minvalue, 0) to (30, 5);
create table rx partition of r for values from (1) to (30, 5);
create table rx partition of r
  for values from (1, null) to (30, 5);
create table rx partition of r for values in (1);
create table rx partition of r
  for values with (modulus 2, remainder 0);
create table rx partition of r
  for values from ('abc', 0) to (30, 5);
create table rx partition of r
  for values from (a, 0) to (30, 5);
create table rx partition of r
  for values from (30, 0) to (30, 1) partition by list (c);
insert into rx values (30, 0, 'q');
create table rxn partition of rx for values in (null, 'n');
insert into r values (30, 0, 'q');
insert into r values (30, 0, null), (30, 0, 'n') returning *;
insert into rx values (31, 0, 'n');
insert into rxn values (30, 0, 'other');
insert into r values (null, 0, 'q');
insert into r values (5, null, 'q');
insert into r values (-5, 7, 'min'), (9, 100, 'r1'), (10, 4, 'r1'), (10, 5, 'r2'), (20, 1000000, 'r2');
insert into r values (21, 0, 'none');
select * from r0; select * from r1; select * from r2;
select * from r where a = 10 order by b;
select * from r where a = 10 and b >= 5 order by b;
select count(*) from r where a > 9;
create table l (k text, v int) partition by list (k);
create table l1 partition of l for values in ('a', 'b', null);
create table l2 partition of l for values in ('c', 'a');
create table l2 partition of l for values in (null);
create table l2 partition of l for values in ('c', 'd', 'c');
create table l3 partition of l
  for values from ('a') to ('b');
create table ld partition of l default;
create table ld2 partition of l default;
insert into l values ('a', 1), ('d', 2), (null, 3), ('zz', 4);
create table l4 partition of l for values in ('zz');
create table l4 partition of l for values in ('yy');
select * from l1 order by v; select * from l2; select * from ld; 
select * from l where k is null; select * from l where k in ('a','zz') order by v; select * from l where k <> 'a' order by v;
update l set k = 'yy' where v = 4;
select * from l4;
insert into l4 values ('zz', 1);
create table h (a int, b text) partition by hash (a, b);
create table h0 partition of h
  for values with (modulus 4, remainder 0);
create table h1 partition of h
  for values with (modulus 4, remainder 1);
create table h2 partition of h
  for values with (modulus 6, remainder 1);
create table h2 partition of h
  for values with (modulus 3, remainder 1);
create table h2 partition of h
  for values with (modulus 8, remainder 1);
create table h2 partition of h
  for values with (modulus 2, remainder 1);
create table h2 partition of h
  for values with (modulus 8, remainder 2);
create table h6 partition of h
  for values with (modulus 8, remainder 6);
create table h3 partition of h
  for values with (modulus 4, remainder 3);
create table hd partition of h default;
create table hx partition of h for values in (1);
insert into h select g, 'v' || g from generate_series(1, 20) g;
insert into h values (null, null), (null, 'x'), (7, null);
select * from h0 order by a, b; select * from h1 order by a, b; select * from h2 order by a, b; select * from h6 order by a, b; select * from h3 order by a, b;
select * from h where a = 7 and b = 'v7';
insert into h0 values (7, 'v7');
create table e (a int, b text) partition by range (lower(b), (a % 10));
create table e1 partition of e
  for values from ('a', 0) to ('m', 5);
create table e2 partition of e
  for values from ('m', 5) to ('z', 0);
insert into e values (3, 'HELLO'), (17, 'm'), (13, 'M'), (1, 'Zebra');
insert into e values (3, 'HELLO'), (17, 'm'), (13, 'M');
select * from e1 order by a; select * from e2;
select * from e where lower(b) = 'hello';
alter table e rename column b to bbb;
insert into e values (4, 'IJK');
alter table e drop column a;
create table bad (a int) partition by range (b);
create table bad (a int, b int) partition by list (a, b);
create table bad (a int) partition by range ((a + random()));
create table bad (a int) partition by range ((1));
create table bad (a int, b int, primary key (b)) partition by range (a);
create table bad (a int, b int unique) partition by range (a);
create table bad (a int, b int, unique (a)) partition by range ((a + 1));
create table bad (a int, b int generated always as (a) stored)
  partition by range (b);
create table bad partition of nowhere for values in (1);
create table plain (a int);
create table bad partition of plain for values in (1);
alter table plain attach partition r1 for values in (1);
alter table r attach partition plain for values from (40,0) to (50,0);
create unique index on r (a);
create unique index on r (a, b);
insert into r values (9, 100, 'again');
create table b (k bool) partition by list (k);
create table bt partition of b for values in (true);
create table bn partition of b for values in (null);
create table bf partition of b for values in (false, 'f');
insert into b values (true), (false), (null);
select * from b where k; select * from b where not k; select * from b where k is null; select count(*) from b where k is not false; select count(*) from b where k is not true; select count(*) from b where k is unknown;
