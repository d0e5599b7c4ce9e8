import { expect, test } from 'vitest'
import { ConfigError } from '../../../../src/server/config/config-error.ts'
import { parseConfig } from '../../../../src/server/config/config.ts'

const URL = ['--signer-url', 'https://bao.example.com:8200/team/transit/ctl']
const TOKEN = ['--signer-token-file', '/t']
const STORE = ['--secret-store-url', 'https://bao.example.com:8200', '--secret-store-token-file', '/store']

function parse(argv: readonly string[]) {
  return parseConfig({ argv, env: { HOME: '/home/ana' }, uid: 1000 }).signer
}

function refusal(argv: readonly string[]): string {
  try {
    parse(argv)
  } catch (error) {
    if (error instanceof ConfigError) return `${error.exitCode} ${error.message}`
    throw error
  }
  return 'accepted'
}

test('keys are sealed in the datastore by default', () =>
  expect(parse([])).toEqual({ transit: undefined, source: 'sealed', isMoving: false }))

test('the last segment of the URL is the key, and the ones before it are the engine', () => {
  expect(parse([...URL, ...TOKEN, '--signer-namespace', 'ns', '--signer-ca', '/ca.pem'])).toEqual({
    transit: {
      url: 'https://bao.example.com:8200',
      mount: 'team/transit',
      key: 'ctl',
      namespace: 'ns',
      caPath: '/ca.pem',
      login: { kind: 'token', tokenFile: '/t' },
    },
    source: 'transit',
    isMoving: false,
  })
})

test.each([
  [['--signer-adopt', 'transit'], 'transit'],
  [['--signer-adopt', 'sealed'], 'sealed'],
])('%j moves the keys', (argv, source) => {
  expect(parse([...URL, ...TOKEN, ...argv])).toMatchObject({ source, isMoving: true })
})

test('a signer at the origin of the secret store takes its login, namespace and authorities', () => {
  const store = [...STORE, '--secret-store-namespace', 'ns', '--secret-store-ca', '/ca.pem']
  expect(parse([...URL, ...store]).transit).toMatchObject({
    login: { kind: 'token', tokenFile: '/store' },
    namespace: 'ns',
    caPath: '/ca.pem',
  })
})

test('a signer with a login of its own takes the authorities alone', () => {
  const store = [...STORE, '--secret-store-namespace', 'ns', '--secret-store-ca', '/ca.pem']
  expect(parse([...URL, ...TOKEN, ...store]).transit).toMatchObject({
    login: { kind: 'token', tokenFile: '/t' },
    namespace: undefined,
    caPath: '/ca.pem',
  })
})

const NO_LOGIN =
  '1 The signer needs a login: give --signer-token-file, --signer-role-id with --signer-secret-id-file, or --signer-kubernetes-role.'
const NO_URL =
  '2 --signer-url must be the URL of a key of a Transit engine, such as https://bao.example.com:8200/transit/ctl.'

test.each([
  [['--signer-url', 'http://127.0.0.1:8200/transit/ctl', ...TOKEN], 'accepted'],
  [URL, NO_LOGIN],
  [['--signer-url', 'https://other.example.com/transit/ctl', ...STORE], NO_LOGIN],
  [TOKEN, '1 Signer options require --signer-url; it is missing.'],
  [['--signer-adopt', 'transit'], '1 Signer options require --signer-url; it is missing.'],
  [['--signer-adopt', 'sealed'], 'accepted'],
  [['--signer-adopt', 'vault', ...URL, ...TOKEN], '2 --signer-adopt must be sealed or transit.'],
  [['--signer-url', 'https://bao.example.com:8200/ctl', ...TOKEN], NO_URL],
  [['--signer-url', 'https://bao.example.com:8200', ...TOKEN], NO_URL],
  [['--signer-url', 'https://bao.example.com:8200/v1/transit/ctl', ...TOKEN], NO_URL],
  [['--signer-url', 'https://u:p@bao.example.com/transit/ctl', ...TOKEN], NO_URL],
  [['--signer-url', 'https://bao.example.com/transit/../ctl', ...TOKEN], NO_URL],
  [['--signer-url', 'ftp://bao.example.com/transit/ctl', ...TOKEN], NO_URL],
  [
    ['--signer-url', 'http://bao/transit/ctl', ...TOKEN],
    '1 A signer on bao without TLS would carry its token in the clear; give https://bao, or --signer-plaintext if that is meant.',
  ],
  [
    [...URL, ...TOKEN, '--signer-kubernetes-role', 'ctl'],
    '1 The signer takes one login: a token file, an AppRole or a Kubernetes role; keep one of them.',
  ],
  [['--dev', ...URL, ...TOKEN], '1 --dev keeps everything in memory; leave out --signer-url or --dev.'],
])('%j is %s', (argv, said) => expect(refusal(argv)).toBe(said))
