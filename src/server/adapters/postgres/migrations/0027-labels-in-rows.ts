import type { Migration } from '../migration.ts'

/**
 * Changes only what differs of the labels in a node's row. Reading all labels of each node again made the deletion of a
 * Definition with a hundred thousand labels exceed the deadline of statements.
 */
export const labelsInRows: Migration = {
  name: '0027-labels-in-rows',
  sql: `
drop trigger keep_node_labels_added on label_assignments;
drop trigger keep_node_labels_changed on label_assignments;
drop trigger keep_node_labels_removed on label_assignments;
drop function keep_node_labels();

-- Labels of the node's Domain have their local key there, others their qualified key.
create function node_label_key(qualified_key text) returns text language sql immutable as $$
  select case when qualified_key like 'domain:%' then substr(qualified_key, 45) else qualified_key end
$$;

create function add_node_labels() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  update nodes set labels = nodes.labels || added.labels
  from (
    select object_id as id, jsonb_object_agg(node_label_key(qualified_key), value) as labels
    from changed where kind = 'node' group by object_id
  ) as added
  where nodes.id = added.id and not nodes.labels @> added.labels;
  return null;
end $$;

create function change_node_labels() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  update nodes set labels = nodes.labels || put.labels
  from (
    select changed.object_id as id, jsonb_object_agg(node_label_key(changed.qualified_key), changed.value) as labels
    from changed join former
      on former.kind = changed.kind and former.object_id = changed.object_id and former.qualified_key = changed.qualified_key
    where changed.kind = 'node' and former.value <> changed.value
    group by changed.object_id
  ) as put
  where nodes.id = put.id;
  return null;
end $$;

create function remove_node_labels() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  update nodes set labels = nodes.labels - gone.keys
  from (
    select object_id as id, array_agg(node_label_key(qualified_key)) as keys
    from changed where kind = 'node' group by object_id
  ) as gone
  where nodes.id = gone.id;
  return null;
end $$;

create trigger keep_node_labels_added after insert on label_assignments
  referencing new table as changed for each statement execute function add_node_labels();
create trigger keep_node_labels_changed after update on label_assignments
  referencing old table as former new table as changed for each statement execute function change_node_labels();
create trigger keep_node_labels_removed after delete on label_assignments
  referencing old table as changed for each statement execute function remove_node_labels();
`,
}
