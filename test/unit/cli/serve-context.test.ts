import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keepContext } from '../../../src/cli/commands/serve.ts'
import { createContextStore, type ContextFile, type ContextStore } from '../../../src/cli/session/contexts.ts'

const DEV = { name: 'dev', url: 'http://127.0.0.1:7443', token: 'psk_local_x' }
const stored = { url: 'https://mesh.example.com', token_store: 'file' } as const

describe('The context of ctl serve --dev', () => {
  let directory: string
  let contexts: ContextStore
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'ctl-contexts-'))
    contexts = createContextStore(directory)
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  const choice = async () => {
    const { current, previous } = await contexts.read()
    return { current, previous }
  }
  const start = (file: Partial<ContextFile>): Promise<ContextFile> =>
    contexts.update(() => ({ version: 1, contexts: { prod: stored, lab: stored }, ...file }))
  const remove = (gone: string): Promise<ContextFile> =>
    contexts.update((file) => {
      const { [gone]: _, ...others } = file.contexts
      return { ...file, contexts: others }
    })

  it('is current while the server runs, and the former ones are current and previous again after it', async () => {
    await start({ current: 'prod', previous: 'lab' })
    const leave = await keepContext({ contexts }, DEV)
    expect(await choice()).toEqual({ current: 'dev', previous: 'prod' })
    await leave()
    expect(await choice()).toEqual({ current: 'prod', previous: 'lab' })
  })

  it('gives way to the one before a server that was killed', async () => {
    await start({ current: 'dev', previous: 'prod' })
    const leave = await keepContext({ contexts }, DEV)
    await leave()
    expect(await choice()).toEqual({ current: 'prod', previous: undefined })
  })

  it('makes no context current that was removed meanwhile', async () => {
    await start({ current: 'prod', previous: 'lab' })
    const leave = await keepContext({ contexts }, DEV)
    await remove('prod')
    await leave()
    expect(await choice()).toEqual({ current: undefined, previous: 'lab' })
  })

  it('leaves the choice alone when another was made meanwhile', async () => {
    await start({ current: 'prod' })
    const leave = await keepContext({ contexts }, DEV)
    await contexts.update((file) => ({ ...file, current: 'lab' }))
    await leave()
    expect((await choice()).current).toBe('lab')
  })
})
