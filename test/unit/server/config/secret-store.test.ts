import { expect, test } from 'vitest'
import { ConfigError } from '../../../../src/server/config/config-error.ts'
import { parseConfig } from '../../../../src/server/config/config.ts'

const URL = ['--secret-store-url', 'https://bao.example.com:8200']
const TOKEN = ['--secret-store-token-file', '/t']

function parse(argv: readonly string[], env: Record<string, string> = {}) {
  return parseConfig({ argv, env: { HOME: '/home/ana', ...env }, uid: 1000 }).secretStore
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

test('secrets are kept in the datastore by default', () => expect(parse([])).toBeUndefined())

test.each([
  [TOKEN, { kind: 'token', tokenFile: '/t' }],
  [
    ['--secret-store-role-id', 'r', '--secret-store-secret-id-file', '/s'],
    { kind: 'approle', mount: 'approle', roleId: 'r', secretIdFile: '/s' },
  ],
  [
    ['--secret-store-kubernetes-role', 'ctl'],
    {
      kind: 'kubernetes',
      mount: 'kubernetes',
      role: 'ctl',
      jwtFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
    },
  ],
  [
    ['--secret-store-kubernetes-role', 'ctl', '--secret-store-jwt-file', '/j', '--secret-store-login-mount', 'k8s/eu'],
    { kind: 'kubernetes', mount: 'k8s/eu', role: 'ctl', jwtFile: '/j' },
  ],
])('%j logs in as %j', (argv, login) => {
  expect(parse([...URL, ...argv])).toEqual({
    url: 'https://bao.example.com:8200',
    mount: 'secret',
    namespace: undefined,
    caPath: undefined,
    login,
  })
})

test('mount, namespace and authorities come from flags and variables', () => {
  const argv = [...URL, ...TOKEN, '--secret-store-mount', 'team/kv', '--secret-store-ca', '/ca.pem']
  expect(parse(argv, { SERVICE_SECRET_STORE_NAMESPACE: 'team' })).toMatchObject({
    mount: 'team/kv',
    namespace: 'team',
    caPath: '/ca.pem',
  })
})

test.each([
  [['--secret-store-url', 'http://127.0.0.1:8200', ...TOKEN], 'accepted'],
  [['--secret-store-url', 'http://[::1]:8200', ...TOKEN], 'accepted'],
  [['--secret-store-url', 'http://bao', '--secret-store-plaintext', ...TOKEN], 'accepted'],
  [
    ['--secret-store-url', 'http://bao', ...TOKEN],
    '1 A secret store on bao without TLS would carry secrets in the clear; give https://bao, or --secret-store-plaintext if that is meant.',
  ],
  [
    [...URL, ...TOKEN, '--secret-store-plaintext'],
    '1 --secret-store-plaintext is without TLS and https:// is with it; keep one of them.',
  ],
  [
    ['--secret-store-url', 'http://127.0.0.1', ...TOKEN, '--secret-store-ca', '/c'],
    '1 --secret-store-ca is for TLS and http:// is without; keep one of them.',
  ],
  [TOKEN, '1 Secret store options require --secret-store-url; it is missing.'],
  [['--secret-store-plaintext'], '1 Secret store options require --secret-store-url; it is missing.'],
  [
    URL,
    '1 The secret store needs a login: give --secret-store-token-file, --secret-store-role-id with --secret-store-secret-id-file, or --secret-store-kubernetes-role.',
  ],
  [
    [...URL, ...TOKEN, '--secret-store-kubernetes-role', 'ctl'],
    '1 The secret store takes one login: a token file, an AppRole or a Kubernetes role; keep one of them.',
  ],
  [
    [...URL, '--secret-store-role-id', 'r'],
    '1 An AppRole needs both --secret-store-role-id and --secret-store-secret-id-file; one of them is missing.',
  ],
  [
    [...URL, '--secret-store-jwt-file', '/j'],
    '1 --secret-store-jwt-file is for the Kubernetes login, which needs --secret-store-kubernetes-role.',
  ],
  [
    [...URL, ...TOKEN, '--secret-store-login-mount', 'approle'],
    '1 --secret-store-login-mount is for AppRole and Kubernetes, and a token file needs no login; leave it out.',
  ],
  [
    ['--secret-store-url', 'https://user:pw@bao', ...TOKEN],
    '2 --secret-store-url must be the origin of an http or https URL, such as https://ctl.example.com.',
  ],
  [
    [...URL, ...TOKEN, '--secret-store-mount', '/kv/'],
    '2 --secret-store-mount must be a path such as secret or team/secret.',
  ],
  [
    [...URL, ...TOKEN, '--secret-store-mount', 'kv/../x'],
    '2 --secret-store-mount must be a path such as secret or team/secret.',
  ],
  [['--dev', ...URL, ...TOKEN], '1 --dev keeps everything in memory; leave out --secret-store-url or --dev.'],
])('%j is %s', (argv, said) => expect(refusal(argv)).toBe(said))
