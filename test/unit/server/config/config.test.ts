import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { parseConfig, type Config } from '../../../../src/server/config/config.ts'
import { ConfigError } from '../../../../src/server/config/config-error.ts'
import { envOf, OPTION_NAMES } from '../../../../src/server/config/options.ts'
import { configurationPage, helpText } from '../../../../src/server/config/reference.ts'
import { HIGH_RATE_LIMITS } from '../../../support/server/high-rate-limits.mjs'

const folder = mkdtempSync(join(tmpdir(), 'ctl-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const HOME = { HOME: '/home/ana' }
const KEY = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='

function parse(argv: readonly string[] = [], env: Record<string, string> = {}, uid = 1000): Config {
  return parseConfig({ argv, env: { ...HOME, ...env }, uid })
}

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** The refusal, as a person sees it. */
function refusal(argv: readonly string[], env: Record<string, string> = {}): string {
  try {
    parse(argv, env)
  } catch (error) {
    if (error instanceof ConfigError) return `${error.exitCode} ${error.message}`
    throw error
  }
  return 'accepted'
}

test('hints in a second are a number from 1 to 1000000', () => {
  expect(parse(['--hints-per-second', '500']).hintsPerSecond).toBe(500)
  for (const text of ['0', '1000001', '-1', '2000/s', ''])
    expect(() => parse([`--hints-per-second=${text}`])).toThrow(
      /^--hints-per-second (?:must be a whole number from 1 to 1000000|needs a value)/,
    )
})

test.each([
  [['--spicedb-endpoint', 'spicedb.example.com:50051'], 'spicedb.example.com:50051', 'tls'],
  [['--spicedb-endpoint', '10.0.0.7:50051', '--spicedb-plaintext'], '10.0.0.7:50051', 'plaintext'],
  [['--spicedb-endpoint', 'localhost:50051'], 'localhost:50051', 'plaintext'],
  [['--spicedb-endpoint', '[::1]:50051'], '[::1]:50051', 'plaintext'],
  [['--spicedb-endpoint', '127.0.0.1:50051', '--spicedb-ca', '/c.pem'], '127.0.0.1:50051', 'tls'],
])('%j reaches SpiceDB at %s over %s', (argv, endpoint, kind) => {
  const { spicedb } = parse([...argv, '--spicedb-token-file', '/t'])
  const caPath = argv.includes('--spicedb-ca') ? '/c.pem' : undefined
  expect(spicedb).toEqual({ endpoint, tokenFile: '/t', security: { kind, caPath } })
})

test.each([
  [['--nats-url', 'nats://127.0.0.1'], ['127.0.0.1:4222'], 'plaintext'],
  [['--nats-url', 'nats://localhost:4333/'], ['localhost:4333'], 'plaintext'],
  [['--nats-url', 'nats://a:1, nats://[fd00::7]:2', '--nats-plaintext'], ['a:1', '[fd00::7]:2'], 'plaintext'],
  [['--nats-url', 'tls://a,tls://b:1'], ['a:4222', 'b:1'], 'tls'],
  [['--nats-url', 'nats://a', '--nats-ca', '/c.pem'], ['a:4222'], 'tls'],
])('%j reaches NATS at %j over %s', (argv, servers, kind) => {
  const caPath = argv.includes('--nats-ca') ? '/c.pem' : undefined
  const { nats } = parse([...argv, '--nats-credentials-file', '/n.creds', '--nats-replicas', '3'])
  expect(nats).toEqual({
    servers,
    credentialsFile: '/n.creds',
    security: { kind, caPath },
    replicas: 3,
    bytesMax: undefined,
  })
})

test.each([
  ['500MiB', 524_288_000],
  ['10GiB', 10_737_418_240],
  ['2TiB', 2_199_023_255_552],
])('%s of events are %d bytes', (size, bytes) => {
  expect(parse(['--nats-url', 'nats://127.0.0.1', '--nats-max-bytes', size]).nats?.bytesMax).toBe(bytes)
})

test.each([
  [['--no-bundled-provider'], {}, false],
  [[], { SERVICE_BUNDLED_PROVIDER: 'false' }, false],
  [[], { SERVICE_BUNDLED_PROVIDER: 'true' }, true],
  [['--no-bundled-provider'], { SERVICE_BUNDLED_PROVIDER: 'true' }, false],
])('%j and %j make the bundled provider %s', (argv, env, isOn) => {
  expect(parse(argv, env).hasBundledProvider).toBe(isOn)
})

test('a flag that switches off takes no value', () => {
  expect(refusal(['--no-bundled-provider=false'])).toBe('2 --no-bundled-provider takes no value.')
})

test('--tls-self-signed serves TLS to other machines, with its files in the data directory', () => {
  expect(parse(['--tls-self-signed', '--listen', '0.0.0.0:7443', '--data-dir', '/d']).tls).toEqual({
    kind: 'self-signed',
    directory: '/d/tls',
  })
  expect(parse(['--tls-cert', '/c', '--tls-key', '/k']).tls).toEqual({ kind: 'files', certPath: '/c', keyPath: '/k' })
})

test('nothing said gives the embedded defaults', () => {
  expect(parse()).toEqual({
    listen: { host: '127.0.0.1', port: 7443 },
    opsListen: undefined,
    baseUrl: undefined,
    dataDir: '/home/ana/.local/state/ctl',
    storage: { kind: 'embedded', directory: '/home/ana/.local/state/ctl' },
    pools: { interactive: { min: 0, max: 20 }, worker: { min: 0, max: 10 }, bulk: { min: 0, max: 5 } },
    spicedb: undefined,
    nats: undefined,
    secretStore: undefined,
    signer: { transit: undefined, source: 'sealed', isMoving: false },
    tls: undefined,
    trustedProxies: [],
    allowedOrigins: [],
    acmeAllowHosts: [],
    webhookAllowHosts: [],
    backups: undefined,
    backupScratchDir: '/home/ana/.local/state/ctl/backup-scratch',
    tracing: undefined,
    releaseSigners: [],
    releasesSource: undefined,
    releasesAllowHosts: [],
    sigstoreTrustedRoot: undefined,
    stepUpAcr: [],
    bootstrapTokenFile: '/home/ana/.local/state/ctl/bootstrap-token',
    initialPasswordFile: '/home/ana/.local/state/ctl/initial-password',
    hasBundledProvider: true,
    env: 'local',
    masterKey: { kind: 'own', path: '/home/ana/.local/state/ctl/master.key' },
    rates: {
      failedCredentials: { count: 30, seconds: 60 },
      signIn: { count: 30, seconds: 60 },
      serviceTokens: { count: 60, seconds: 60 },
      registrations: { count: 500, seconds: 1 },
      node: { count: 10, seconds: 1 },
      domain: { count: 5000, seconds: 1 },
      writes: { count: 200, seconds: 1 },
      reads: { count: 5000, seconds: 1 },
    },
    staleChecks: { ttlMs: 30_000, entriesMax: 10_000 },
    staleStates: { ttlMs: 300_000, entriesMax: 10_000 },
    hintsPerSecond: 2_000,
    capacityIntervalMs: 15_000,
    auditRetentionDays: 400,
    logLevel: 'info',
    isDev: false,
    isDemo: false,
    isCheck: false,
  })
})

test('the data directory is /var/lib/ctl for root and follows XDG_STATE_HOME for others', () => {
  expect(parse([], {}, 0).dataDir).toBe('/var/lib/ctl')
  expect(parse([], { XDG_STATE_HOME: '/x/state' }).dataDir).toBe('/x/state/ctl')
})

test('the configuration is frozen all the way down', () => {
  const config = parse()
  expect(Object.isFrozen(config)).toBe(true)
  expect(Object.isFrozen(config.pools.worker)).toBe(true)
  expect(Object.isFrozen(config.listen)).toBe(true)
})

test('a flag wins over a variable, a variable over the file, the file over the default', () => {
  const path = file('all.yaml', 'listen: 127.0.0.1:1\nops_listen: 127.0.0.1:2\nenv: file\nlog_level: warn\n')
  const config = parse(['--config', path, '--listen', '127.0.0.1:3'], {
    SERVICE_LISTEN: '127.0.0.1:4',
    SERVICE_ENV: 'var',
  })
  expect(config.listen.port).toBe(3)
  expect(config.env).toBe('var')
  expect(config.opsListen).toEqual({ host: '127.0.0.1', port: 2 })
  expect(config.logLevel).toBe('warn')
})

test('hosts of ACME directories are taken as URLs spell them', () => {
  const { acmeAllowHosts } = parse([
    '--acme-allow-hosts',
    'ACME.lan, 10.0.0.5:14000,[FD00::5]:443,[fd00:0::1],bücher.example',
  ])
  expect(acmeAllowHosts).toEqual(['acme.lan', '10.0.0.5:14000', '[fd00::5]:443', '[fd00::1]', 'xn--bcher-kva.example'])
})

test.each([
  'https://acme.lan',
  'acme.lan/dir',
  'acme.lan:0',
  'acme.lan:65536',
  'acme.lan:',
  'a@b',
  'fd00::5',
  '[fd00]',
  'a b',
])('a host of an ACME directory is not %j', (text) => {
  expect(() => parse(['--acme-allow-hosts', text])).toThrow(
    '--acme-allow-hosts must be hosts such as acme.lan or 10.0.0.5:14000, separated by commas.',
  )
})

test('the file may be JSON, with lists, numbers and switches of their own type', () => {
  const path = file(
    'all.json',
    JSON.stringify({
      trusted_proxies: ['10.0.0.0/8', '::1'],
      pool_bulk_max_conns: 7,
      demo: true,
      insecure_http: false,
    }),
  )
  const config = parse([], { SERVICE_CONFIG: path })
  expect(config.trustedProxies).toEqual(['10.0.0.0/8', '::1/128'])
  expect(config.pools.bulk).toEqual({ min: 0, max: 7 })
  expect(config.isDemo).toBe(true)
})

test('the file may gather keys with one beginning in a section, and 0 switches a rate limit off', () => {
  const path = file('section.yaml', 'rate_limit:\n  node: 20/s\n  writes: 0\n  failed_credentials: 5/h\nenv: test\n')
  const { rates, env } = parse(['--config', path])
  expect([rates.node, rates.writes, rates.failedCredentials, env]).toEqual([
    { count: 20, seconds: 1 },
    { count: 0, seconds: 1 },
    { count: 5, seconds: 3600 },
    'test',
  ])
})

test('a section names its unknown keys whole, and says nothing a second time', () => {
  const unknown = file('unknown.yaml', 'rate_limit: {nod: 1/s}\n')
  expect(refusal(['--config', unknown])).toBe(
    `1 ${unknown} has an unknown key rate_limit_nod. Did you mean rate_limit_node?`,
  )
  const twice = file('twice.yaml', 'rate_limit_node: 1/s\nrate_limit: {node: 2/s}\n')
  expect(refusal(['--config', twice])).toBe(`1 rate_limit_node is given twice in ${twice}.`)
})

test.each(['10', '10/day', '-1/s', '1.5/s', '/s'])('%s is no rate', (text) => {
  expect(refusal([`--rate-limit-node=${text}`])).toBe(
    '2 --rate-limit-node must be a rate such as 10/s, 30/min or 500/h, or 0 for no limit.',
  )
})

test('the tests that need it raise every rate limit', () => {
  const names = OPTION_NAMES.filter((name) => name.startsWith('rateLimit')).map(envOf)
  expect(Object.keys(HIGH_RATE_LIMITS).toSorted()).toEqual(names.toSorted())
  expect(parse([], HIGH_RATE_LIMITS).rates.node).toEqual({ count: 1_000_000, seconds: 1 })
})

test('an empty file and an empty variable say nothing', () => {
  expect(parse(['--config', file('empty.yaml', '')], { SERVICE_LISTEN: '' }).listen.port).toBe(7443)
})

describe('values', () => {
  test.each([
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    [':0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:7443', { host: '::1', port: 7443 }],
    ['localhost:80', { host: 'localhost', port: 80 }],
  ])('--listen %s', (text, address) => {
    expect(parse(['--listen', text]).listen).toEqual(address)
  })

  test('--flag=value and switches with a value are taken', () => {
    expect(parse(['--listen=127.0.0.1:1', '--demo=true']).isDemo).toBe(true)
    expect(parse(['--demo=false']).isDemo).toBe(false)
  })

  test('a master key is 32 bytes, from a variable or from a file named anywhere', () => {
    expect(parse([], { SERVICE_MASTER_KEY: KEY }).masterKey).toEqual({ kind: 'given', key: Buffer.from(KEY, 'base64') })
    expect(parse(['--master-key-file', '/k']).masterKey).toEqual({ kind: 'file', path: '/k' })
  })

  test('a database URL with a password is taken from the environment and from the file', () => {
    const url = 'postgres://ctl:secret@db/ctl'
    expect(parse([], { SERVICE_DATABASE_URL: url }).storage).toEqual({ kind: 'postgres', url })
    expect(parse(['--config', file('db.yaml', `database_url: ${url}`)]).storage).toEqual({ kind: 'postgres', url })
    expect(parse(['--database-url', 'postgres://ctl@db/ctl']).storage).toEqual({
      kind: 'postgres',
      url: 'postgres://ctl@db/ctl',
    })
  })

  test('a base URL loses its closing slash', () => {
    expect(parse(['--base-url', 'https://ctl.example.com/']).baseUrl).toBe('https://ctl.example.com')
  })
})

describe('refusals', () => {
  const ARGV: readonly (readonly [argv: readonly string[], says: string])[] = [
    [['--lisen', 'x'], '2 There is no flag --lisen. Did you mean --listen?'],
    [['--zzzzzzzz'], '2 There is no flag --zzzzzzzz. See --help.'],
    [['7443'], '2 Only flags are taken here; see --help.'],
    [['--listen'], '2 --listen needs a value: --listen HOST:PORT'],
    [['--demo', '--demo'], '2 --demo is given twice.'],
    [['--demo=maybe'], '2 --demo must be true or false.'],
    [['--listen', '7443'], '2 --listen must be host:port, with a port from 0 to 65535.'],
    [['--listen', '127.0.0.1:65536'], '2 --listen must be host:port, with a port from 0 to 65535.'],
    [['--listen', '[127.0.0.1]:1'], '2 --listen must be host:port, with a port from 0 to 65535.'],
    [
      ['--authz-check-stale-ttl', '30'],
      '2 --authz-check-stale-ttl must be a duration such as 30s, 1m30s or 500ms, at most 1h, or 0.',
    ],
    [
      ['--authz-check-stale-ttl', '61m'],
      '2 --authz-check-stale-ttl must be a duration such as 30s, 1m30s or 500ms, at most 1h, or 0.',
    ],
    [
      ['--authz-check-stale-max-entries', '-1'],
      '2 --authz-check-stale-max-entries must be a whole number from 0 to 1000000.',
    ],
    [['--env', 'Prod'], '2 --env must be 1 to 16 of a-z and 0-9.'],
    [
      ['--base-url', 'https://x/y'],
      '2 --base-url must be the origin of an http or https URL, such as https://ctl.example.com.',
    ],
    [
      ['--trusted-proxies', '10.0.0.0/33'],
      '2 --trusted-proxies must be CIDR networks such as 10.0.0.0/8, separated by commas.',
    ],
    [['--log-level', 'loud'], '2 --log-level must be one of fatal, error, warn, info, debug, trace, silent.'],
    [['--tls-cert', '/c'], '1 TLS needs both --tls-cert and --tls-key; one of them is missing.'],
    [
      ['--master-key', KEY],
      '2 --master-key is a secret and not taken from the command line; use SERVICE_MASTER_KEY or --master-key-file.',
    ],
    [
      ['--database-url', 'postgres://ctl:hunter2@db/ctl'],
      '2 --database-url holds a password, which everybody on this machine could read; use SERVICE_DATABASE_URL, a --config file or a .pgpass file.',
    ],
    [
      ['--database-url=postgres://db/ctl?password=hunter2'],
      '2 --database-url holds a password, which everybody on this machine could read; use SERVICE_DATABASE_URL, a --config file or a .pgpass file.',
    ],
    [
      ['--database-url', 'mysql://db'],
      '2 --database-url must be a connection URL such as postgres://user@host:5432/ctl.',
    ],
    [['--config', '/nonexistent/ctl.yaml'], '1 The configuration file /nonexistent/ctl.yaml cannot be read (ENOENT).'],
    [
      ['--spicedb-endpoint', 'spicedb:50051'],
      '1 SpiceDB needs both --spicedb-endpoint and --spicedb-token-file; the file is missing.',
    ],
    [['--spicedb-token-file', '/t'], '1 What is said of SpiceDB needs --spicedb-endpoint; it is missing.'],
    [['--spicedb-endpoint', 'spicedb'], '2 --spicedb-endpoint must be host:port, such as spicedb.example.com:50051.'],
    [['--spicedb-endpoint', ':50051'], '2 --spicedb-endpoint must be host:port, such as spicedb.example.com:50051.'],
    [
      ['--spicedb-endpoint', 'spicedb:1', '--spicedb-token-file', '/t', '--spicedb-ca', '/c', '--spicedb-plaintext'],
      '1 --spicedb-ca is for TLS and --spicedb-plaintext is without; keep one of them.',
    ],
    [
      ['--dev', '--spicedb-endpoint', 'spicedb:1', '--spicedb-token-file', '/t'],
      '1 --dev keeps everything in memory; leave out --spicedb-endpoint or --dev.',
    ],
    [['--nats-credentials-file', '/c'], '1 What is said of NATS needs --nats-url; it is missing.'],
    [['--nats-plaintext'], '1 What is said of NATS needs --nats-url; it is missing.'],
    [['--nats-max-bytes', '1GiB'], '1 What is said of NATS needs --nats-url; it is missing.'],
    [
      ['--nats-url', 'nats://ctl:secret@127.0.0.1'],
      '2 --nats-url holds credentials, which everybody on this machine could read; use --nats-credentials-file.',
    ],
    [
      ['--nats-url', 'http://127.0.0.1'],
      '2 --nats-url must be addresses such as nats://127.0.0.1:4222 or tls://nats.example.com, all of one kind, without credentials.',
    ],
    [
      ['--nats-url', 'nats://127.0.0.1,tls://127.0.0.2'],
      '2 --nats-url must be addresses such as nats://127.0.0.1:4222 or tls://nats.example.com, all of one kind, without credentials.',
    ],
    [
      ['--nats-url', 'nats://127.0.0.1,nats://nats.example.com'],
      '1 NATS on nats.example.com without TLS would carry credentials and events in the clear; give tls://nats.example.com, or --nats-plaintext if that is meant.',
    ],
    [
      ['--nats-url', 'tls://nats.example.com', '--nats-plaintext'],
      '1 --nats-plaintext is without TLS and tls:// or --nats-ca is with it; keep one of them.',
    ],
    [['--nats-url', 'nats://[::1]', '--nats-replicas', '6'], '2 --nats-replicas must be a whole number from 1 to 5.'],
    [
      ['--nats-url', 'nats://[::1]', '--nats-max-bytes', '5'],
      '2 --nats-max-bytes must be a size such as 500MiB, 10GiB or 2TiB.',
    ],
    [['--dev', '--nats-url', 'nats://127.0.0.1'], '1 --dev keeps everything in memory; leave out --nats-url or --dev.'],
    [['--spicedb-endpont', 'spicedb:1'], '2 There is no flag --spicedb-endpont. Did you mean --spicedb-endpoint?'],
    [['--dev', '--data-dir', '/d'], '1 --dev keeps everything in memory; leave out --data-dir or --dev.'],
    [['--dev', '--listen', '0.0.0.0:1'], '1 --dev serves this machine only; --listen must name a loopback address.'],
    [
      ['--listen', '0.0.0.0:7443'],
      '1 Plain HTTP on 0.0.0.0:7443 would carry credentials in the clear; give --tls-cert and --tls-key, or --tls-self-signed, or --trusted-proxies when a proxy ends TLS, or --insecure-http if that is meant.',
    ],
    [
      ['--tls-self-signed', '--tls-cert', '/c', '--tls-key', '/k'],
      '1 --tls-self-signed makes a certificate and --tls-cert and --tls-key give one; keep one of the two.',
    ],
    [
      ['--tls-self-signed', '--tls-key', '/k'],
      '1 --tls-self-signed makes a certificate and --tls-cert and --tls-key give one; keep one of the two.',
    ],
    [
      ['--dev', '--tls-self-signed'],
      '1 --dev serves this machine only and keeps no files; leave out --tls-self-signed or --dev.',
    ],
    [
      ['--pool-worker-min-conns', '11'],
      '1 --pool-worker-min-conns (11) is above SERVICE_POOL_WORKER_MAX_CONNS (10); lower the one or raise the other.',
    ],
    [['--pool-bulk-max-conns', '0'], '1 --pool-bulk-max-conns must be at least 1.'],
    [['--pool-bulk-max-conns', '-1'], '2 --pool-bulk-max-conns must be a whole number from 0 to 1000.'],
  ]
  test.each(ARGV)('%j', (argv, says) => {
    expect(refusal(argv)).toBe(says)
  })

  test.each([
    [{ SERVICE_LISTN: 'x' }, '1 There is no setting SERVICE_LISTN. Did you mean SERVICE_LISTEN?'],
    [{ SERVICE_QQQQQQQQ: 'x' }, '1 There is no setting SERVICE_QQQQQQQQ.'],
    [
      { SERVICE_MASTER_KEY: 'c2hvcnQ=' },
      '1 SERVICE_MASTER_KEY must be 32 bytes in base64 (openssl rand -base64 32 makes one).',
    ],
    [
      { SERVICE_MASTER_KEY: KEY, SERVICE_MASTER_KEY_FILE: '/k' },
      '1 SERVICE_MASTER_KEY and SERVICE_MASTER_KEY_FILE are both set; keep one of them.',
    ],
    [
      { SERVICE_AUDIT_RETENTION_DAYS: '3651' },
      '1 SERVICE_AUDIT_RETENTION_DAYS must be a whole number of days from 1 to 3650.',
    ],
    [
      { SERVICE_POOL_INTERACTIVE_MIN_CONNS: '5', SERVICE_POOL_INTERACTIVE_MAX_CONNS: '4' },
      '1 SERVICE_POOL_INTERACTIVE_MIN_CONNS (5) is above SERVICE_POOL_INTERACTIVE_MAX_CONNS (4); lower the one or raise the other.',
    ],
  ])('%j', (env, says) => {
    expect(refusal([], env as unknown as Record<string, string>)).toBe(says)
  })

  test.each([
    ['lisen: 127.0.0.1:1', 'has an unknown key lisen. Did you mean listen?'],
    ['config: other.yaml', 'has an unknown key config.'],
    ['- listen', 'must hold one mapping of settings.'],
    ['listen: {host: x}', 'must be a text, a number, true, false or a list of texts.'],
    ['listen: [', 'is neither YAML nor JSON:'],
  ])('a file with %j', (text, says) => {
    const path = file('bad.yaml', text)
    expect(refusal(['--config', path])).toContain(says)
    expect(refusal(['--config', path])).toMatch(/^1 /)
  })

  test('no refusal repeats a secret', () => {
    expect(refusal([], { SERVICE_DATABASE_URL: 'ctl:hunter2@db' })).not.toContain('hunter2')
    expect(refusal([], { SERVICE_MASTER_KEY: 'hunter2' })).not.toContain('hunter2')
  })
})

test.each([[['--insecure-http']], [['--trusted-proxies', '10.0.0.1']], [['--tls-cert', '/c', '--tls-key', '/k']]])(
  '%j allows listening off loopback',
  (argv) => {
    expect(parse(['--listen', '0.0.0.0:7443', ...argv]).listen.host).toBe('0.0.0.0')
  },
)

test('--dev is in memory with a master key that is thrown away', () => {
  const { storage, masterKey, isDev } = parse(['--dev'])
  expect({ storage, masterKey, isDev }).toEqual({
    storage: { kind: 'memory' },
    masterKey: { kind: 'throwaway' },
    isDev: true,
  })
})

test('help and docs name every flag but the secret one', () => {
  expect(helpText()).toContain('--ops-listen HOST:PORT')
  expect(helpText()).not.toContain('--master-key BASE64')
  expect(configurationPage()).toContain('| `--ops-listen` | `SERVICE_OPS_LISTEN` | `ops_listen` | none |')
  expect(configurationPage()).toContain('| (none: a secret) | `SERVICE_MASTER_KEY` | `master_key` |')
})

test.each([
  ['0', 0],
  ['500ms', 500],
  ['1m30s', 90_000],
  ['1h', 3_600_000],
])('the stale checks and states have the environment names of the specification: %s', (ttl, ttlMs) => {
  const env = { AUTHZ_CHECK_STALE_TTL: ttl, AUTHZ_CHECK_STALE_MAX_ENTRIES: '7' }
  expect(parseConfig({ argv: [], env: { HOME: '/home/ana', ...env } }).staleChecks).toEqual({ ttlMs, entriesMax: 7 })
  const states = { SERVICE_STATE_STALE_TTL: ttl, SERVICE_STATE_STALE_MAX_ENTRIES: '7' }
  const parsed = parseConfig({ argv: [], env: { HOME: '/home/ana', ...states } })
  expect(parsed.staleStates).toEqual({ ttlMs, entriesMax: 7 })
})

test.each([
  ['1s', 1_000],
  ['10m', 600_000],
])('the capacity of Domains is sampled every %s', (text, ms) => {
  expect(parse(['--capacity-sample-interval', text]).capacityIntervalMs).toBe(ms)
})

test.each(['0', '999ms', '10m1s', '15', '-15s'])('the capacity of Domains is not sampled every %s', (text) => {
  expect(() => parse(['--capacity-sample-interval', text])).toThrow(
    '--capacity-sample-interval must be a duration from 1s to 10m, such as 15s.',
  )
})
