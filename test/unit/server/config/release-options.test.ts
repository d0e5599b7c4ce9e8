import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../../../src/server/config/config.ts'
import { acrValues, releaseSigners, releasesSource } from '../../../../src/server/config/releases.ts'

const ISSUER = 'https://token.actions.githubusercontent.com'

describe('--release-signers', () => {
  it('is nobody where it is empty', () => {
    expect(releaseSigners(' ')).toEqual({ value: [] })
  })

  it('has an issuer and an identity each', () => {
    expect(releaseSigners(`${ISSUER} https://github.com/a/b@v{version}, https://idp.example  ana@example.com`)).toEqual(
      {
        value: [
          { issuer: ISSUER, identity: 'https://github.com/a/b@v{version}' },
          { issuer: 'https://idp.example', identity: 'ana@example.com' },
        ],
      },
    )
  })

  it.each([ISSUER, `${ISSUER} a b`, `${ISSUER} a,,${ISSUER} b`, `${ISSUER} a,`, 'issuer identity'])(
    'is not %j',
    (text) => {
      expect(releaseSigners(text)).toHaveProperty('mustBe')
    },
  )
})

describe('--releases-source', () => {
  it.each([
    ['/srv/releases', { kind: 'folder', directory: '/srv/releases' }],
    ['/srv/releases/', { kind: 'folder', directory: '/srv/releases' }],
    ['/srv/releases/index.json', { kind: 'folder', directory: '/srv/releases' }],
    ['/index.json', { kind: 'folder', directory: '/' }],
    ['https://dl.example/agent', { kind: 'https', url: 'https://dl.example/agent/' }],
    ['https://dl.example/agent/', { kind: 'https', url: 'https://dl.example/agent/' }],
    ['https://dl.example/agent/index.json', { kind: 'https', url: 'https://dl.example/agent/' }],
    ['https://dl.example', { kind: 'https', url: 'https://dl.example/' }],
  ])('%s is read', (text, value) => {
    expect(releasesSource(text)).toEqual({ value })
  })

  it.each([
    ' ',
    'http://dl.example/',
    'ftp://dl.example',
    'https://ana:x@dl.example/',
    'https://ana@dl.example',
    'https://dl.example/?x=1',
    'https://dl.example/#x',
    'https://',
  ])('%j is refused', (text) => {
    expect(releasesSource(text)).toHaveProperty('mustBe')
  })
})

describe('--step-up-acr', () => {
  it('has values that a challenge can quote', () => {
    expect(acrValues(' gold, urn:x:silver ,')).toEqual({ value: ['gold', 'urn:x:silver'] })
    expect(acrValues('a"b')).toHaveProperty('mustBe')
  })
})

describe('Options of releases', () => {
  const SIGNERS = ['--release-signers', `${ISSUER} ana@example.com`]
  const parse = (argv: readonly string[], env = {}) => parseConfig({ argv, env })

  it.each([
    [['--releases-source', '/srv/releases'], {}],
    [['--releases-source', 'https://dl.example/', '--release-signers', ' '], {}],
    [['--dev', '--releases-source', '/srv/releases'], {}],
    [[], { SERVICE_RELEASES_SOURCE: '/srv/releases' }],
  ])('%j with %j are refused: a source needs signers', (argv, env) => {
    expect(() => parse(argv, env)).toThrow(
      expect.objectContaining({
        exitCode: 1,
        message: '--releases-source needs --release-signers; they are missing.',
      }),
    )
  })

  it('are a source with signers, or signers alone', () => {
    expect(parse([...SIGNERS, '--releases-source', '/srv/releases']).releasesSource).toEqual({
      kind: 'folder',
      directory: '/srv/releases',
    })
    expect(parse(SIGNERS).releasesSource).toBeUndefined()
  })
})
