-- References that a query cannot make.
create table a(x int); create table b(y int); insert into a values (1); insert into b values (1);
select * from (values (1)) a(x)
  right
  join lateral (select a.x) l
  on true;
select * from (values (1)) a(x)
  full
  join lateral (select x) l
  on true;
select * from (values (1)) a(x)
  right
  join lateral generate_series(1,a.x) l
  on true;
select * from a
  full
  join lateral (select y from b where b.y = a.x) l
  on true;
select * from a
  left
  join lateral (select y from b where b.y = a.x) l
  on true;
select * from a, (select y from b where b.y = a.x) l;
select * from a
  join (select y from b where b.y = a.x) l
  on true;
select * from a q where a.x = 1;
update a q set x = 2 where a.x = 1;
delete from a q where a.x = 1;
select * from b, a
  right
  join lateral (select b.y, a.x) l
  on true;
select * from (b join a on true)
  right
  join lateral (select b.y) l
  on true;
select * from a, b
  join (select 1) c on a.x = b.y;
insert into a values (1) returning excluded.x;
select a.nope from a;
select * from b
  right
  join lateral (select 1 as o where exists
  (select 1 from a where a.x = b.y)) l
  on true;
update a q set x = 3 where q.x = 1;
delete from a q using b z where a.x = 1;
select (select a.* from b) from a q;
select * from a
  right
  join lateral (select a.*) l
  on true;
