CREATE TABLE a (id int PRIMARY KEY, g int, v numeric(10,2), s text);
CREATE TABLE b (id int PRIMARY KEY, aid int, w int);
INSERT INTO a SELECT i, i % 10, i * 0.5, 'x' || i FROM generate_series(1, 5000) i;
INSERT INTO b SELECT i, i % 2500, i FROM generate_series(1, 20000) i;
ANALYZE a;
ANALYZE b;
