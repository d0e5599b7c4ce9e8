import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createContextStore, sameServer } from '../../../../src/cli/session/contexts.ts'

const URL_ONE = 'https://one.example'

describe('The context store', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'ctl-contexts-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  it('keeps tokens in a file that only its owner reads, whatever lay there before', async () => {
    const store = createContextStore(join(directory, 'deep', 'er'))
    await store.keepToken('one', { url: URL_ONE, token: 'secret' })
    expect(statSync(store.credentialsPath).mode & 0o777).toBe(0o600)
    chmodSync(store.credentialsPath, 0o644)
    await store.keepToken('two', { url: URL_ONE, token: 'other' })
    expect(statSync(store.credentialsPath).mode & 0o777).toBe(0o600)
    expect(statSync(join(directory, 'deep', 'er')).mode & 0o777).toBe(0o700)
  })

  it('leaves nothing but whole files behind', async () => {
    const store = createContextStore(directory)
    await store.update((file) => ({ ...file, current: 'one' }))
    await store.keepToken('one', { url: URL_ONE, token: 'secret' })
    expect(readdirSync(directory).toSorted()).toEqual(['config.json', 'credentials.json'])
  })

  it('gives a token only to the server that it was stored for', async () => {
    const store = createContextStore(directory)
    await store.keepToken('one', { url: URL_ONE, token: 'secret' })
    expect(await store.token('one', 'https://one.example/prefix')).toBe('secret')
    expect(await store.token('one', 'https://evil.example')).toBeUndefined()
    expect(await store.token('one', 'http://one.example')).toBeUndefined()
  })

  it('forgets a token and says whether there was one', async () => {
    const store = createContextStore(directory)
    await store.keepToken('one', { url: URL_ONE, token: 'secret' })
    expect(await store.keepToken('one', undefined)).toBe(true)
    expect(await store.keepToken('one', undefined)).toBe(false)
    expect(await store.token('one', URL_ONE)).toBeUndefined()
  })

  it.each([
    ['no JSON', '{"version": 1', 'is not valid JSON'],
    ['another version', '{"version": 2}', 'was written by another version of ctl'],
  ])('refuses a file with %s and names it', async (_, text, reason) => {
    const store = createContextStore(directory)
    writeFileSync(store.configPath, text)
    await expect(store.read()).rejects.toMatchObject({ message: `${store.configPath} ${reason}`, exitCode: 1 })
  })

  it('says so when its directory cannot be written', async () => {
    const store = createContextStore(join(directory, 'file', 'below'))
    writeFileSync(join(directory, 'file'), '')
    await expect(store.update((file) => file)).rejects.toMatchObject({ code: 'config_unusable', exitCode: 1 })
  })

  it('leaves the old file when the new one cannot be put in its place', async () => {
    const store = createContextStore(directory)
    mkdirSync(store.configPath)
    await expect(store.update((file) => file)).rejects.toMatchObject({ code: 'config_unusable' })
    expect(readdirSync(directory)).toEqual(['config.json'])
  })
})

describe('Two URLs name the same server', () => {
  it.each([
    ['https://a.example', 'https://a.example/', true],
    ['https://a.example', 'https://A.example:443/x', true],
    ['https://a.example', 'https://a.example:8443', false],
    ['https://a.example', 'http://a.example', false],
    ['https://a.example', 'https://a.example.evil.example', false],
    ['unix:/run/a.sock', 'unix:/run/a.sock', true],
    ['unix:/run/a.sock', 'unix:/run/b.sock', false],
  ])('%s and %s: %s', (one, other, expected) => {
    expect(sameServer(one, other)).toBe(expected)
  })
})
