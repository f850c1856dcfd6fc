DROP TABLE IF EXISTS test_table;
CREATE TABLE test_table (
    supplier_txn_base_id bigint NOT NULL,
    supplier_id bigint NOT NULL,
    supplier_address_id bigint,
    supplier_txn_code nvarchar2(30) NOT NULL,
    shipment_code nvarchar2(30),
    invoice_currency_code nvarchar2(15)) DISTRIBUTE BY HASH(supplier_txn_base_id);
INSERT INTO test_table VALUES (200, 100, -1, 'CNY', 'ee', 'CNY');
INSERT INTO test_table VALUES (300, 200, -1, 'EUR', 'de', 'EUR');
INSERT INTO test_table VALUES (200, 300, -1, 'US', 'de', 'US');
SET enable_imcvscan=on;
SET htap_router_mode='column';
-- A column view of some columns.
ALTER TABLE test_table COLVIEW(supplier_id, supplier_txn_code);
SELECT node_name, rel_name, partition_name, imcvnattr, imcvkey, rowgroup_num, cu_num_in_mem, cu_mem_size, cu_num_in_disk, cu_disk_size FROM gs_global_imcv_info() ORDER BY node_name,rel_name;
-- Hybrid scans off.
SET enable_hybrid_imcvscan=off;
EXPLAIN (COSTS OFF) SELECT * FROM test_table t WHERE t.supplier_id >= 200;
-- Hybrid scans on.
SET enable_hybrid_imcvscan=on;
-- The query needs columns without a view; the predicate's has one, so columns are scanned.
EXPLAIN (COSTS OFF) SELECT * FROM test_table t WHERE t.supplier_id >= 200;
DROP TABLE test_table;
