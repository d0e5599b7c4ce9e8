import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { manifestOf } from '../../../src/shared/contract/manifest.ts'
import { defineSurface, open, OPERATOR } from '../../../src/shared/contract/operation.ts'
import { nonEmptyPatch } from '../../../src/shared/contract/patch.ts'
import type { CliResult } from '../../support/cli/cli-run.ts'
import { useStubbedCli } from '../../support/cli/stubbed-cli.ts'

const Package = z.strictObject({ source: z.string(), version: z.string() })

const common = {
  credentials: OPERATOR,
  gate: open('it is a fixture'),
  audit: { none: 'it is a fixture' },
  bodyBytesMax: 8192,
  problems: [],
} as const

const flags = {
  provider_packages: { name: 'package', form: 'packages' },
  overrides: { name: 'override', form: 'packages' },
  endpoint: { form: 'pairs' },
  region_defaults: { name: 'region-default', form: 'pairs' },
  config_api_version: { name: 'api-version' },
} as const

const anyMembers = z.record(z.string(), z.unknown())

const manifest = manifestOf({
  things: defineSurface('things', 'Fixtures', {
    CreateThing: {
      ...common,
      method: 'POST',
      path: '/v1/things',
      summary: 'Create a thing',
      body: z.strictObject({
        provider_packages: z.array(Package).min(1).describe('Packages of the provider'),
        endpoint: anyMembers.describe('Where the provider is'),
        region_defaults: anyMembers.optional(),
        config_api_version: z.string().optional(),
      }),
      responses: { 204: null },
      cli: { command: 'things create', flags },
    },
    PatchThing: {
      ...common,
      method: 'PATCH',
      path: '/v1/things/{id}',
      summary: 'Change a thing',
      params: z.strictObject({ id: z.string() }),
      body: z.strictObject({ overrides: z.array(Package).optional().describe('Packages of its own') }),
      patch: nonEmptyPatch(),
      responses: { 204: null },
      cli: { command: 'things update', args: ['id'], flags },
    },
    CreateNamed: {
      ...common,
      method: 'POST',
      path: '/v1/named',
      summary: 'Create a named thing',
      body: z.strictObject({ display_name: z.string(), slug: z.string() }),
      responses: { 204: null },
      cli: { command: 'named create', args: ['slug'], sameAs: { display_name: 'slug' } },
    },
    PutSecret: {
      ...common,
      method: 'PUT',
      path: '/v1/secrets/{name}',
      summary: 'Store a secret',
      params: z.strictObject({ name: z.string() }),
      body: z.strictObject({ value: z.string().meta({ writeOnly: true, description: 'The secret' }) }),
      responses: { 204: null },
      cli: { command: 'secrets put', args: ['name'] },
    },
    CreateKey: {
      ...common,
      method: 'POST',
      path: '/v1/keys',
      summary: 'Create a key',
      body: z.strictObject({ secret: anyMembers.meta({ writeOnly: true, description: 'What the provider asks for' }) }),
      responses: { 204: null },
      cli: { command: 'keys create' },
    },
  }),
})

const cli = useStubbedCli({ CTL_TOKEN: `psk_local_${'0'.repeat(32)}_${'a'.repeat(49)}` })
const NO_CONTENT = { status: 204 }
const ROUTES = {
  'POST /v1/things': NO_CONTENT,
  'PATCH /v1/things/7': NO_CONTENT,
  'PUT /v1/secrets/db': NO_CONTENT,
  'POST /v1/keys': NO_CONTENT,
  'POST /v1/named': NO_CONTENT,
}

const run = (line: string, stdin?: string): Promise<CliResult> =>
  cli.run(line, ROUTES, { manifest, ...(stdin !== undefined && { stdin }) })

/** The body of the one call that a line made. */
async function sent(line: string, stdin?: string): Promise<unknown> {
  const { exitCode, stderr } = await run(line, stdin)
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(cli.stub?.seen).toHaveLength(1)
  return cli.stub?.seen[0]?.body
}

/** What a refused line says; nothing was sent. */
async function refusal(line: string, stdin?: string): Promise<string> {
  const { exitCode, stderr } = await run(line, stdin)
  expect([exitCode, cli.stub?.seen]).toEqual([2, []])
  return stderr
}

const MADE = '--endpoint a=b --package oci://example.com/base@v1'

describe('A set of packages', () => {
  it.each([
    ['oci://example.com/hetzner@v1.4', { source: 'oci://example.com/hetzner', version: 'v1.4' }],
    ['oci://example.com:5000/a,b@1.0.0-rc.1+x', { source: 'oci://example.com:5000/a,b', version: '1.0.0-rc.1+x' }],
    ['oci://example.com/a@sha256:0f1e', { source: 'oci://example.com/a', version: 'sha256:0f1e' }],
    ['oci://me@example.com/a@v2', { source: 'oci://me@example.com/a', version: 'v2' }],
  ])('is typed one by one, the version after the last @: %s', async (text, expected) => {
    expect(await sent(`things create --endpoint a=b --package ${text}`)).toMatchObject({
      provider_packages: [expected],
    })
  })

  it('keeps the order in which it was typed', async () => {
    expect(await sent(`things create ${MADE} --package b@2 --package a@1`)).toMatchObject({
      provider_packages: [
        { source: 'oci://example.com/base', version: 'v1' },
        { source: 'b', version: '2' },
        { source: 'a', version: '1' },
      ],
    })
  })

  it('of none is the word none', async () => {
    expect(await sent('things update 7 --override none')).toEqual({ overrides: [] })
  })

  it.each(['oci://example.com/hetzner', '@v1', 'oci://example.com/a@', 'oci://me@example.com/a'])(
    'is refused without a source or a version: %s',
    async (text) => {
      expect(await refusal(`things create --endpoint a=b --package ${text}`)).toBe(
        `error: --package needs SOURCE@VERSION, such as oci://registry.example.com/provider@v1.4, not "${text}"\n`,
      )
    },
  )

  it('is refused with none beside a package', async () => {
    expect(await refusal('things update 7 --override none --override a@1')).toBe(
      'error: --override none is the empty set and goes with no other value\n',
    )
  })
})

describe('An object', () => {
  it.each([
    ['api_url=https://example.com/?a=b,c', { api_url: 'https://example.com/?a=b,c' }],
    ['account_id=000000000001', { account_id: '000000000001' }],
    ['a=1 --endpoint b=true', { a: '1', b: 'true' }],
    ['a=', { a: '' }],
    ['none', {}],
  ])('is typed pair by pair, its values texts: %s', async (text, endpoint) => {
    expect(await sent(`things create --package a@1 --endpoint ${text}`)).toMatchObject({ endpoint })
  })

  it.each([
    ['api_url', '--endpoint needs key=value, not "api_url"'],
    ['=b', '--endpoint needs key=value, not "=b"'],
    ['a=1 --endpoint a=2', '--endpoint gives a twice'],
  ])('is refused in %s', async (text, message) => {
    expect(await refusal(`things create --package a@1 --endpoint ${text}`)).toBe(`error: ${message}\n`)
  })

  it('with objects inside comes from a file, and flags replace its members', async () => {
    const file =
      'endpoint: { tls: { ca: pem } }\nprovider_packages: [{ source: a, version: "1" }]\nconfig_api_version: v1\n'
    expect(await sent('things create --from-file - --api-version v2', file)).toEqual({
      endpoint: { tls: { ca: 'pem' } },
      provider_packages: [{ source: 'a', version: '1' }],
      config_api_version: 'v2',
    })
  })
})

describe('A member that is the same as another one', () => {
  it.each([
    ['named create web', undefined, { slug: 'web', display_name: 'web' }],
    ['named create web --display-name Web', undefined, { slug: 'web', display_name: 'Web' }],
    ['named create web -f -', 'display_name: Web', { slug: 'web', display_name: 'Web' }],
  ])('need not be typed: %s', async (line, stdin, body) => {
    expect(await sent(line, stdin)).toEqual(body)
  })

  it('says so in help', async () => {
    const { stdout } = await run('named create --help')
    expect(stdout).toContain('Usage  ctl named create <slug> [flags]')
    expect(stdout).toContain('Display name (default the slug)')
  })
})

describe('Help', () => {
  it('shows how sets are typed, and none only where a set may be empty', async () => {
    const { stdout } = await run('things create --help')
    expect(stdout).toContain('things create --package SOURCE@VERSION --endpoint KEY=VALUE [flags]')
    expect(stdout).toContain('Packages of the provider (may be repeated) (required)')
    expect(stdout).toContain('Region defaults (may be repeated; none for an empty set)')
    expect((await run('things update --help')).stdout).toContain(
      '--override SOURCE@VERSION  Packages of its own (may be repeated; none for an empty set)',
    )
  })
})

describe('A secret', () => {
  it.each([
    ['hunter2', 'hunter2'],
    ['hunter2\n', 'hunter2'],
    ['hunter2\r\n', 'hunter2'],
    ['-----BEGIN KEY-----\nMIIB\n-----END KEY-----\n', '-----BEGIN KEY-----\nMIIB\n-----END KEY-----\n'],
  ])('of one line loses the end of the line, and one of several keeps it: %j', async (text, value) => {
    expect(await sent('secrets put db --value-file -', text)).toEqual({ value })
  })

  it.each(['{"token": "t"}', 'token: t\n'])('that is an object is JSON or YAML: %j', async (text) => {
    expect(await sent('keys create --secret-file -', text)).toEqual({ secret: { token: 't' } })
  })

  it('comes from a file of the working directory', async () => {
    writeFileSync(join(cli.home.home, 'key.yaml'), 'token: t')
    expect(await sent('keys create --secret-file key.yaml')).toEqual({ secret: { token: 't' } })
  })

  const WAY = 'A secret is read from a file, since other users can see the command line: '

  it.each([
    ['secrets put db --value hunter2', `unknown flag --value\n${WAY}--value-file FILE, or --value-file - for stdin`],
    ['secrets put db --value=hunter2', `unknown flag --value\n${WAY}--value-file FILE, or --value-file - for stdin`],
    [
      'secrets put db hunter2',
      `"ctl secrets put" takes at most 1, and there is one too many\n${WAY}--value-file FILE, or --value-file - for stdin`,
    ],
    [
      'keys create --secret-file {"token":"hunter2"}',
      '--secret-file takes the name of a file, not the secret itself\nOr pipe it in: --secret-file -',
    ],
  ])('on the command line is refused, with the way out and without the secret: %s', async (line, message) => {
    const said = await refusal(line)
    expect(said).toBe(`error: ${message}\n`)
    expect(said).not.toContain('hunter2')
  })

  it.each([
    ['secrets put db --value-file - --curl', 'hunter2'],
    ['secrets put db --value-file - --trace', 'hunter2'],
    ['keys create --secret-file - --curl', '{"key": {"private": "hunter2"}}'],
    ['keys create --secret-file - --trace', '{"key": {"private": "hunter2"}}'],
  ])('is shown by no option that shows the call: %s', async (line, stdin) => {
    const { exitCode, stdout, stderr } = await run(line, stdin)
    expect(exitCode).toBe(0)
    expect(stdout + stderr).toContain('"[redacted]"')
    expect(stdout + stderr).not.toContain('hunter2')
  })

  it.each([
    ['keys create --secret-file -', '{"token": hunter2', '--secret-file - is neither JSON nor YAML'],
    ['keys create --secret-file -', '- hunter2', '--secret-file - must hold one object'],
    ['keys create --from-file -', '{"secret": hunter2', '--from-file - is neither JSON nor YAML'],
    ['keys create --secret-file -', ' \n', '--secret-file - holds nothing'],
    ['keys create --secret-file away', '', '--secret-file names away, which cannot be read'],
    ['secrets put db', '', '--value-file is missing\nAdd --value-file\nSee: ctl secrets put --help'],
  ])('is not repeated by an error: %s with %j', async (line, stdin, message) => {
    expect(await refusal(line, stdin)).toBe(`error: ${message}\n`)
  })
})
