import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer as createHttp, type Server as HttpServer } from 'node:http'
import { createServer as createTcp, type Server as TcpServer } from 'node:net'
import { createServer as createTls, type Server as TlsServer } from 'node:tls'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSystemClock } from '../../../src/client/agent/system-clock.ts'
import { createTaskTracker } from '../../../src/client/agent/tasks/task-tracker.ts'
import { createIngressPart, type IngressPart } from '../../../src/cli/agent/bridges/ingress/ingress-part.ts'
import { ingressPlace, type IngressPlace } from '../../../src/cli/agent/bridges/ingress/ingress-place.ts'
import type { WantedIngress } from '../../../src/cli/agent/bridges/wanted-parts.ts'
import { createTimers } from '../../../src/cli/agent/process/timers.ts'
import { missingProgram } from '../../../src/cli/agent/system/missing-program.ts'
import { runProgram } from '../../../src/cli/agent/system/run-program.ts'
import { freePort } from '../../support/datastores/postgres-cluster.ts'
import { askByName, openByName } from '../../support/ingress/ask-by-name.ts'
import { ownCertificate } from '../../support/ingress/own-certificate.ts'
import { startPebble, type Pebble } from '../../support/network/pebble.ts'
import { requirement } from '../../support/run/requirements.mjs'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const [LOW, HIGH] = ['0197a000-0000-7000-8000-00000000b001', '0197a000-0000-7000-8000-00000000b002']
const [WEB, SHOP, LATE] = ['1', '2', '3'].map((end) => `0197a000-0000-7000-8000-00000000c00${end}`) as [
  string,
  string,
  string,
]
const SECRET_REF = 'secret:acme/edge/account'
const HMAC_KEY = 'c2VjcmV0LW9mLWFuLWV4dGVybmFsLWFjY291bnQ'
const WITHIN = { timeout: 30_000, interval: 50 }

const [haproxy, caddy, pebbleProgram] = [requirement('haproxy'), requirement('caddy'), requirement('pebble')]
const isMissing =
  haproxy === undefined ||
  caddy === undefined ||
  pebbleProgram === undefined ||
  requirement('openssl') === undefined ||
  process.getuid?.() !== 0

interface Agent {
  readonly part: IngressPart
  end(mode: 'keep' | 'remove'): Promise<void>
}

describe.skipIf(isMissing)('Ingress of a host', () => {
  let folder: string
  let place: IngressPlace
  let port: number
  let agents: Agent[]
  let addresses: Map<string, string>
  let pebble: Pebble
  let names: ChildProcess
  let web: HttpServer
  let shop: TlsServer
  let acmePort: number

  beforeAll(async () => {
    web = createHttp((request, response) => response.end(`web ${request.url} ${JSON.stringify(request.headers)}`))
    shop = createTls(ownCertificate('shop of the node'), (socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (chunk: Buffer) => socket.write(`shop ${chunk.toString().split('\r')[0]}`))
    })
    for (const [server, host] of [
      [web, '127.0.0.2'],
      [shop, '127.0.0.3'],
    ] as const) {
      server.listen(0, host)
      await once(server, 'listening')
    }
    acmePort = await freePort()
    const [dns, management] = [await freePort(), await freePort()]
    const off = ['-http01', '', '-https01', '', '-tlsalpn01', '', '-defaultIPv6', '']
    names = spawn('pebble-challtestsrv', [
      ...off,
      '-dns01',
      `127.0.0.1:${dns}`,
      '-management',
      `127.0.0.1:${management}`,
    ])
    pebble = await startPebble(pebbleProgram ?? '', {
      tlsPort: acmePort,
      nameServer: `127.0.0.1:${dns}`,
      externalKeys: { 'kid-1': HMAC_KEY },
    })
  })
  afterAll(async () => {
    names.kill('SIGKILL')
    await pebble.stop()
    web.close()
    shop.close()
  })

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-ingress-'))
    // HAProxy changes to a user of its own.
    chmodSync(folder, 0o711)
    place = ingressPlace('0197a000-0000-7000-8000-00000000a001', join(folder, 'state'), join(folder, 'run'))
    port = await freePort()
    agents = []
    addresses = new Map([
      [WEB, '127.0.0.2'],
      [SHOP, '127.0.0.3'],
    ])
  })
  afterEach(async () => {
    for (const each of agents) await each.end('remove')
    rmSync(folder, { recursive: true })
  })

  function agent(change: { readonly port?: number; readonly run?: typeof runProgram } = {}): Agent {
    const tasks = createTaskTracker(createTimers())
    const ending = new AbortController()
    const part = createIngressPart({
      place,
      listen: { host: '127.0.0.1', port: change.port ?? port },
      environment: { SSL_CERT_FILE: pebble.caFile },
      run: change.run ?? runProgram,
      log: { line: () => undefined, close: () => undefined },
      clock: createSystemClock(),
      tasks,
      until: ending.signal,
      ownAddress: () => '100.64.0.1',
      addressOf: (nodeId) => addresses.get(nodeId),
      peersSettled: async () => undefined,
    })
    let hasEnded = false
    const made: Agent = {
      part,
      async end(mode) {
        if (hasEnded) return
        hasEnded = true
        ending.abort()
        tasks.cancelScheduled()
        await part.close(mode)
      },
    }
    agents.push(made)
    return made
  }

  const portOf = (server: TcpServer | HttpServer): number => {
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }
  const passed = (slug: string, host: string, nodeId = SHOP): WantedIngress => ({
    slug,
    sni_host: host,
    target_node_id: nodeId,
    target_port: portOf(shop),
    acme_account_ref: null,
    secret: undefined,
  })
  const ended = (slug: string, host: string): WantedIngress => ({
    ...passed(slug, host, WEB),
    target_port: portOf(web),
    acme_account_ref: SECRET_REF,
    secret: new TextEncoder().encode(
      JSON.stringify({ directory_url: pebble.url, eab_kid: 'kid-1', eab_hmac_key: HMAC_KEY }),
    ),
  })
  const at = (name: string | undefined, where = port) => ({ host: '127.0.0.1', port: where, name })

  /** Whether a connection by the name leads anywhere. */
  async function leads(name: string | undefined): Promise<boolean> {
    try {
      const socket = await openByName(at(name))
      socket.destroy()
      return true
    } catch {
      return false
    }
  }
  async function talk(name: string): Promise<string> {
    const socket = await openByName(at(name))
    socket.write('hello\r')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return answer.toString()
  }

  test('passes TLS through to the node of the exact name, before that of a wildcard, which stands for one label', async () => {
    const { part } = agent()
    addresses.set(LATE, '127.0.0.9')
    expect(
      await part.apply(LOW, [passed('shop', 'shop.example.test'), passed('wild', '*.wild.example.test')]),
    ).toBeUndefined()
    const socket = await openByName(at('SHOP.example.test'))
    expect(socket.getPeerCertificate().subject.CN).toBe('shop of the node')
    socket.destroy()
    expect(await talk('one.wild.example.test')).toBe('shop hello')
    for (const name of ['two.one.wild.example.test', 'wild.example.test', 'other.example.test', undefined])
      expect([name, await leads(name)]).toEqual([name, false])
    // A name below the wildcard has a rule of its own: it leads to a node that does not answer.
    expect(
      await part.apply(LOW, [passed('own', 'own.wild.example.test', LATE), passed('wild', '*.wild.example.test')]),
    ).toBeUndefined()
    expect(await leads('own.wild.example.test')).toBe(false)
    expect(await leads('any.wild.example.test')).toBe(true)
  })

  test('reads from the internet as another user than root', async () => {
    const { part } = agent()
    await part.apply(LOW, [passed('shop', 'shop.example.test')])
    const users = pidsWith(place.haproxyConfig).map((pid) => statSync(`/proc/${pid}`).uid)
    expect(users.toSorted((one, other) => one - other)).toEqual([0, expect.any(Number)])
    expect(Math.max(...users)).toBeGreaterThan(0)
  })

  test('refuses a rule with a directive in one of its texts, and goes on with the former ones', async () => {
    const { part } = agent()
    expect(await part.apply(LOW, [passed('shop', 'shop.example.test')])).toBeUndefined()
    const bad: readonly Partial<WantedIngress>[] = [
      { sni_host: 'a.example.test }\n  bind :1' },
      { sni_host: '{env.HOME}.example.test' },
      { sni_host: 'a.example.test" -m found' },
      { sni_host: '127.0.0.1' },
      { slug: 'a\nbackend x' },
      { target_node_id: '127.0.0.1:22' },
      { target_port: 0 },
      { acme_account_ref: 'https://ca.example.test/{env.PATH}' },
      { acme_account_ref: 'http://ca.example.test/dir' },
      {
        acme_account_ref: SECRET_REF,
        secret: new TextEncoder().encode(
          '{"directory_url":"https://ca.example.test/","eab_kid":"{file./etc/shadow}","eab_hmac_key":"x"}',
        ),
      },
      { acme_account_ref: SECRET_REF, secret: undefined },
    ]
    for (const change of bad)
      expect([change, await part.apply(LOW, [{ ...passed('shop', 'a.example.test'), ...change }])]).toEqual([
        change,
        expect.stringMatching(/^(?:rule|a rule) /),
      ])
    expect(await talk('shop.example.test')).toBe('shop hello')
    expect(readFileSync(place.haproxyConfig, 'utf8')).not.toContain('a.example.test')
  })

  test('keeps open connections while other rules change, and cuts those of a rule that is gone', async () => {
    const { part } = agent()
    await part.apply(LOW, [passed('shop', 'shop.example.test'), passed('gone', 'gone.example.test')])
    const [kept, cut] = [await openByName(at('shop.example.test')), await openByName(at('gone.example.test'))]
    for (const socket of [kept, cut]) socket.on('error', () => undefined)
    const isCut = once(cut, 'close')
    expect(
      await part.apply(LOW, [passed('new', 'new.example.test'), passed('shop', 'shop.example.test')]),
    ).toBeUndefined()
    await isCut
    kept.write('still\r')
    expect(String((await once(kept, 'data'))[0])).toBe('shop still')
    expect(await talk('new.example.test')).toBe('shop hello')
    expect(await leads('gone.example.test')).toBe(false)
    kept.destroy()
  })

  test('gives a name to the bridge with the lowest id, and refuses the other one', async () => {
    const { part } = agent()
    expect(
      await part.apply(HIGH, [passed('mine', 'shop.example.test'), passed('more', 'more.example.test')]),
    ).toBeUndefined()
    expect(await part.apply(LOW, [passed('shop', 'shop.example.test')])).toBeUndefined()
    expect(part.faults()).toEqual([`ingress mine: bridge ${LOW} has the name shop.example.test`])
    expect(await talk('more.example.test')).toBe('shop hello')
    expect((await part.rows()).map(({ host, bridge_id: id }) => [host, id])).toEqual([
      ['more.example.test', HIGH],
      ['shop.example.test', LOW],
    ])
    expect(await part.apply(HIGH, [passed('again', 'shop.example.test')])).toBe(
      `rule again: bridge ${LOW} has the name shop.example.test on this host already`,
    )
  })

  test('follows the addresses of peers', async () => {
    const { part } = agent()
    await part.apply(LOW, [passed('late', 'late.example.test', LATE), passed('shop', 'shop.example.test')])
    expect(part.faults()).toEqual([`ingress late: its target ${LATE} is no peer of this host`])
    expect(await leads('late.example.test')).toBe(false)
    addresses.set(LATE, '127.0.0.3')
    await vi.waitFor(async () => expect(await talk('late.example.test')).toBe('shop hello'), WITHIN)
    expect(part.faults()).toEqual([])
  })

  test('refuses a configuration with the reason while another program has the port', async () => {
    const other = createTcp().listen(port, '127.0.0.1')
    await once(other, 'listening')
    const { part } = agent()
    expect(await part.apply(LOW, [passed('shop', 'shop.example.test')])).toMatch(
      new RegExp(`^TCP port ${port} is in use by another program of this machine`),
    )
    other.close()
    await once(other, 'close')
    expect(await part.apply(LOW, [passed('shop', 'shop.example.test')])).toBeUndefined()
    expect(await talk('shop.example.test')).toBe('shop hello')
  })

  test('names the package of a program that is not installed', async () => {
    const { part } = agent({ run: async (program) => Promise.reject(missingProgram(program)) })
    expect(await part.apply(LOW, [passed('shop', 'shop.example.test')])).toBe(
      'haproxy is not installed. Install it: apt install haproxy',
    )
  })

  test.each([
    ['its worker', (pids: readonly number[]) => pids.slice(-1)],
    ['all of its processes', (pids: readonly number[]) => pids],
  ])('starts HAProxy again where %s was killed', async (_, chosen) => {
    const { part } = agent()
    await part.apply(LOW, [passed('shop', 'shop.example.test')])
    const before = pidsWith(place.haproxyConfig)
    for (const pid of chosen(before)) process.kill(pid, 'SIGKILL')
    await vi.waitFor(async () => {
      expect(pidsWith(place.haproxyConfig).filter((pid) => before.includes(pid))).toEqual([])
      expect(await talk('shop.example.test')).toBe('shop hello')
    }, WITHIN)
    expect(part.faults()).toEqual([])
  })

  test('hands its programs with open connections to the next agent, and ends them when it is taken down', async () => {
    const first = agent()
    await first.part.apply(LOW, [passed('shop', 'shop.example.test')])
    const kept = await openByName(at('shop.example.test'))
    await first.end('keep')
    expect(await talk('shop.example.test')).toBe('shop hello')
    const before = pidsWith(place.haproxyConfig)
    const next = agent()
    expect(await next.part.apply(LOW, [passed('shop', 'shop.example.test')])).toBeUndefined()
    expect(pidsWith(place.haproxyConfig)).toEqual(before)
    kept.write('still\r')
    expect(String((await once(kept, 'data'))[0])).toBe('shop still')
    kept.on('error', () => undefined)
    await next.end('remove')
    expect(pidsWith(place.haproxyConfig)).toEqual([])
    expect(existsSync(place.folder)).toBe(false)
  })

  test('keeps what an earlier agent left until each bridge of the host was applied', async () => {
    const first = agent()
    await first.part.apply(HIGH, [passed('shop', 'shop.example.test')])
    const kept = await openByName(at('shop.example.test'))
    kept.on('error', () => undefined)
    await first.end('keep')
    const { part } = agent()
    await part.keepOnly(new Set([LOW, HIGH]))
    expect(await part.apply(LOW, [])).toBeUndefined()
    expect(await talk('shop.example.test')).toBe('shop hello')
    expect(await part.apply(LOW, [passed('other', 'other.example.test')])).toBeUndefined()
    kept.write('still\r')
    expect(String((await once(kept, 'data'))[0])).toBe('shop still')
    expect(await part.apply(HIGH, [])).toBeUndefined()
    expect(await talk('other.example.test')).toBe('shop hello')
    await part.keepOnly(new Set())
    expect(pidsWith(place.haproxyConfig)).toEqual([])
    kept.destroy()
  })

  test('lets Caddy of an earlier agent go on until each bridge of the host was applied', async () => {
    const first = agent()
    expect(await first.part.apply(HIGH, [ended('blog', 'blog.example.test')])).toBeUndefined()
    const before = pidsWith(place.caddyConfig)
    expect(before).toHaveLength(1)
    await first.end('keep')
    const { part } = agent()
    await part.keepOnly(new Set([LOW, HIGH]))
    expect(await part.apply(LOW, [passed('shop', 'shop.example.test')])).toBeUndefined()
    expect(pidsWith(place.caddyConfig)).toEqual(before)
    expect(await part.apply(HIGH, [])).toBeUndefined()
    expect(pidsWith(place.caddyConfig)).toEqual([])
  })

  test('stops serving the last rule also while another bridge of the host is not applied', async () => {
    const { part } = agent()
    await part.keepOnly(new Set([LOW, HIGH]))
    expect(await part.apply(HIGH, [passed('bad', 'a b')])).toMatch(/^rule bad: /)
    expect(await part.apply(LOW, [passed('shop', 'shop.example.test')])).toBeUndefined()
    expect(await talk('shop.example.test')).toBe('shop hello')
    expect(await part.apply(LOW, [])).toBeUndefined()
    await vi.waitFor(async () => expect(await leads('shop.example.test')).toBe(false), WITHIN)
    expect(await part.apply(HIGH, [])).toBeUndefined()
    expect(pidsWith(place.haproxyConfig)).toEqual([])
  })

  test('has no fault of its programs any more once it hosts no bridge', async () => {
    let isInstalled = true
    const { part } = agent({
      run: async (...call) => (isInstalled ? runProgram(...call) : Promise.reject(missingProgram('haproxy'))),
    })
    await part.apply(LOW, [passed('shop', 'shop.example.test')])
    isInstalled = false
    addresses.set(SHOP, '127.0.0.9')
    await vi.waitFor(() => expect(part.faults()).toHaveLength(1), WITHIN)
    await part.keepOnly(new Set())
    expect(part.faults()).toEqual([])
  })

  test('ends what an earlier agent left once no bridge of it is hosted any more', async () => {
    const first = agent()
    await first.part.apply(LOW, [passed('shop', 'shop.example.test')])
    await first.end('keep')
    await agent().part.keepOnly(new Set())
    expect(pidsWith(place.haproxyConfig)).toEqual([])
  })

  test('ends TLS with a certificate of the ACME directory that the secret names, and keeps the key out of files', async () => {
    port = acmePort
    const { part } = agent()
    expect(
      await part.apply(LOW, [ended('blog', 'blog.example.test'), passed('shop', 'shop.example.test')]),
    ).toBeUndefined()
    const asked = await vi.waitFor(async () => {
      const answer = await askByName(at('blog.example.test'))
      expect(answer.text).toContain('web /path')
      return answer
    }, WITHIN)
    expect(asked.issuer).toMatch(/^Pebble Intermediate/)
    expect(asked.text).toContain('"x-forwarded-proto":"https"')
    expect(await talk('shop.example.test')).toBe('shop hello')
    expect(Date.parse((await part.rows())[0]?.certificate_until ?? '')).toBeGreaterThan(Date.now())
    expect(statSync(place.certificates).mode & 0o077).toBe(0)
    const files = [place.folder, place.certificates].flatMap((each) => filesIn(each))
    expect(files.length).toBeGreaterThan(3)
    for (const file of files) expect([file, readFileSync(file, 'utf8').includes(HMAC_KEY)]).toEqual([file, false])

    for (const pid of pidsWith(place.caddyConfig)) process.kill(pid, 'SIGKILL')
    await vi.waitFor(async () => expect((await askByName(at('blog.example.test'))).text).toContain('web /path'), WITHIN)

    expect(await part.apply(LOW, [passed('shop', 'shop.example.test')])).toBeUndefined()
    expect(pidsWith(place.caddyConfig)).toEqual([])
    expect(await leads('blog.example.test')).toBe(false)
  })
})

/** Processes with that argument. */
function pidsWith(argument: string): readonly number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument)
      } catch {
        return false
      }
    })
    .map(Number)
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}
