-- Expression, partial, unique and covering indexes; NULLs in unique indexes.
create table t (a int primary key, b int, c text, d varchar(10), ts timestamptz);
create index on t (lower(c));
create index on t (a, lower(c), (b+1));
create index on t ((a+b)) where b > 3;
create index i5 on t (a) include (b, c);
create index on t (now());
create index on t ((a + random()));
create index on t (a) where random() > 0.5;
create index on t (a) where ts > now();
create index on t ((ts::date));
create index on t (sum(a));
create index on t (a) where (select true);
create index on t (a) where b;
create index on t (a) where sum(a) > 1;
create index on t (a) include (zz);
create index on t (zz);
create index on t ((zz + 1));
create unique index on t (a,a);
create unique index on t (a) include (a);
create index on t (a collate "C");
create unique index u on t (lower(c)) include (d) nulls not distinct where b > 1;
insert into t values (1,2,'X','d'),(2,3,'x','d');
create unique index u2 on t ((100/b));
insert into t values (1,0,'X','d');
insert into t values (1,1,'X','d');
insert into t values (7,2,null,'d'), (8,3,null,'d');
update t set b = 0;
drop index u2;
create unique index w on t ((b+1)) where b > 100;
insert into t values (10,200,'p','d'), (11,200,'q','d');
create unique index w3 on t ((b+1), c) nulls not distinct where b > 1000;
insert into t values (10,2000,null,'d'), (11,2000,null,'d');
insert into t values (12,200,'r','d');
insert into t values (100,200,'s','d') on conflict ((b+1)) where b > 100 do nothing;
insert into t values (100,200,'s','d') on conflict ((b+1)) do nothing;
insert into t values (100,200,'s','d') on conflict ((b+1)) where b > 200 do update set c = 'up' returning *;
insert into t values (100,200,'s','d') on conflict (b) where b > 200 do update set c = 'up' returning *;
insert into t values (100,5,'y','d'), (101,5,'Z','d') on conflict (lower(c)) where b > 1 do update set c = excluded.c returning *;
insert into t values (102,5,'Y','d'), (103,5,'z','d'), (104,5,'zz','d') on conflict (lower(c)) where b > 1 do update set c = excluded.c returning *;
insert into t values (105,5,'q','d'), (106,5,'Q','d') on conflict (lower(c)) where b > 1 do update set c = excluded.c returning *;
insert into t values (102,5,'Y','d') on conflict (lower(c)) do update set c = excluded.c;
insert into t values (103,7,'Y','d') on conflict do nothing;
select a, b, c, d from t order by a;
create table k (a int, b int, c text, unique nulls not distinct (a) include (b), primary key (b) include (c));
insert into k values (null, 1), (null, 2);
insert into k values (null, 1);
insert into k values (null, 2) on conflict (a) do update set c = 'met' returning *;
insert into k values (5, null);
alter table k add constraint two unique nulls not distinct (a, c);
insert into k values (3, 3, null), (3, 4, null);
\d k
\d t
-- Columns go with what is built on them.
alter table t drop column c;
\d t
alter table t rename column b to bb;
\d t
select a, bb from t order by a;
insert into t values (200, 300), (201, 300);
-- Rows enter and leave partial indexes.
create table p (id int primary key, state text, n int);
create unique index on p (n) where state = 'open';
create index on p (state) where n is not null;
insert into p values (1, 'open', 1), (2, 'done', 1), (3, 'done', 1);
update p set state = 'open' where id = 2;
update p set state = 'done' where id = 1;
update p set state = 'open' where id = 2;
update p set state = 'open', n = 2 where id = 3;
update p set n = n + 1 where state = 'open';
update p set n = 2;
update p set n = null;
update p set n = 7 where id = 1;
delete from p where id = 1;
insert into p values (1, 'open', 7);
insert into p values (4, 'open', 7);
select * from p order by id;
begin;
update p set n = 8 where id = 1;
savepoint s;
insert into p values (5, 'open', 8);
rollback to s;
update p set state = 'done' where id = 1;
insert into p values (5, 'open', 8);
rollback;
insert into p values (5, 'open', 8);
select * from p where n = 8 and state = 'open';
-- Foreign keys need unique indexes of all rows, on columns.
create table f (a int);
alter table f add foreign key (a) references p (n);
create unique index on p ((n + 0));
alter table f add foreign key (a) references p (n);
-- An index made on rows.
create table e (a int, b text);
insert into e select g, 'Text ' || g % 10 from generate_series(1, 100) g;
create index on e (lower(b), (a+1), a);
create index on e (((a+1)*2));
create index on e ((case when a > 1 then 1 end));
create index on e (coalesce(a,1));
create index on e (upper(lower(b)));
create unique index on e (a) include (b);
create unique index on e (b) where a in (3, 13, 14);
create unique index on e ((a % 50)) where a in (7, 57, 58);
create unique index ea on e ((a % 50)) where a > 50;
select a, b from e where lower(b) = 'text 3' and a + 1 > 80 order by a;
select count(*) from e where upper(lower(b)) = 'TEXT 4';
insert into e values (150, 'x');
insert into e values (149, 'x');
create index bad on e (a) include (nope);
create index bad on e using hash_like (a);
drop index e_lower_expr_a_idx, e_expr_idx;
create table cp (a int, b text);
create unique index on cp (lower(b)) where a > 1;
copy cp from stdin;
1	x
1	X
2	X
3	y
\.
copy cp from stdin;
5	Y
\.
select * from cp order by a, b;
copy cp from stdin;
1	Y
7	Z
\.
select * from cp where a > 1 order by a, b;
