import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshPublicKey } from '../support/fleet/fleet.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'

const DOCUMENT = fileURLToPath(new URL('../../docs/contract/openapi.json', import.meta.url))
const tools = requirement('openapi-tools')
const clients = join(tools ?? '', 'clients')

describe.skipIf(tools === undefined)('a client generated from the API document', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-generated-clients-'))
  let server: CtlProcess
  let later: Server
  let token: string

  beforeAll(async () => {
    generate()
    const tokenFile = join(folder, 'token')
    server = await startCtl({ args: ['--data-dir', join(folder, 'data'), '--bootstrap-token-file', tokenFile] })
    token = readFileSync(tokenFile, 'utf8').trim()
    later = await startLaterServer()
  }, 300_000)
  afterAll(async () => {
    later.close()
    await server.end('SIGTERM')
    rmSync(folder, { recursive: true })
  })

  it.each(['openapi-fetch', 'hey-api'])(
    'of %s signs in, reads pages and events, and goes on after what it does not know',
    async (name) => {
      const { port } = later.address() as AddressInfo
      const given = {
        url: server.url,
        token,
        strange: `http://127.0.0.1:${port}`,
        prefix: name,
        publicKeys: [freshPublicKey(), freshPublicKey()],
      }
      const child = spawn(process.execPath, [join(clients, 'built', `${name}.js`)], {
        env: { ...process.env, GIVEN: JSON.stringify(given) },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const [seen, failures] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
      expect(failures).toBe('')
      expect(JSON.parse(seen)).toEqual({
        subject: expect.stringMatching(/^serviceaccount:/),
        projects: ['one', 'three', 'two'],
        refused: 'choose another name',
        strangeRefusal: 'go on after moon_is_full',
        strangeDimension: 'moonlight',
        event: 'node_state_updated',
      })
    },
    60_000,
  )
})

/** Generates both clients and compiles them, strictly, with the programs that use them. */
function generate(): void {
  const generated = join(clients, 'generated')
  rmSync(generated, { recursive: true, force: true })
  rmSync(join(clients, 'built'), { recursive: true, force: true })
  run('openapi-typescript/bin/cli.js', [DOCUMENT, '-o', join(generated, 'schema.d.ts')])
  run('@hey-api/openapi-ts/bin/run.js', ['-i', DOCUMENT, '-o', join(generated, 'hey-api'), '--no-log-file'])
  run('typescript/lib/tsc.js', ['-p', clients])
}

function run(program: string, args: readonly string[]): void {
  const script = join(tools ?? '', 'node_modules', program)
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd: clients, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} failed:\n${stdout}${stderr}`)
}

/** Answers as a later server might: with a code and with a value that no client of today knows. */
async function startLaterServer(): Promise<Server> {
  const refusal = { type: 'x/moon-is-full', title: 'Full', status: 429, detail: 'Full.', correlation_id: 'c' }
  const dimension = { dimension: 'moonlight', unit: 'lux', used: 1, target: 2, ratio: 0.5, enforced: false }
  const capacity = { domain_id: 'd', sampled_at: '2026-01-01T00:00:00Z', interval_seconds: 15, dimensions: [dimension] }
  const later = createServer((request, response) => {
    const isRead = request.method === 'GET'
    response.writeHead(isRead ? 200 : 429, {
      'content-type': isRead ? 'application/json' : 'application/problem+json',
    })
    response.end(JSON.stringify(isRead ? capacity : { ...refusal, code: 'moon_is_full' }))
  })
  later.listen(0, '127.0.0.1')
  await once(later, 'listening')
  return later
}
