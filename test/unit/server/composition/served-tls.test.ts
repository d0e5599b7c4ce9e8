import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { checkTls, openTls, type ServedTls } from '../../../../src/server/composition/served-tls.ts'
import type { TlsMaterial } from '../../../../src/server/composition/tls-files.ts'
import { parseConfig, type Config } from '../../../../src/server/config/config.ts'

const START_MS = Date.UTC(2026, 2, 1)
const DAY_MS = 86_400_000

let folder: string
let nowMs: number
let lines: string[]
const stops: (() => void)[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctl-served-tls-'))
  nowMs = START_MS
  lines = []
})
afterEach(() => {
  stops.splice(0).forEach((stop) => stop())
  rmSync(folder, { recursive: true, force: true })
})

function configWith(...argv: string[]): Config {
  return parseConfig({ argv: ['--tls-self-signed', '--data-dir', folder, ...argv], env: { HOME: folder } })
}

async function open(config = configWith()): Promise<ServedTls> {
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  const served = await openTls({ config, clock: { now: () => nowMs }, log, renewalCheckMs: 1 })
  if (served === undefined) throw new Error('the configuration asks for TLS')
  return served
}

const endOf = ({ cert }: TlsMaterial): number => Date.parse(new X509Certificate(cert).validTo)

describe('a server with a certificate of its own authority', () => {
  it('serves the renewed certificate without a restart when it is time', async () => {
    const served = await open()
    const taken: TlsMaterial[] = []
    stops.push(served.follow((material) => taken.push(material)))
    nowMs = START_MS + 61 * DAY_MS
    await vi.waitFor(() => expect(taken.map(endOf)).toEqual([nowMs + 90 * DAY_MS]))
    expect(taken[0]).toEqual(served.current())
    expect(lines.join('')).toContain('the TLS certificate was renewed')
  })

  it('logs a renewal that fails and goes on with the former certificate', async () => {
    const served = await open()
    const before = served.current()
    const take = vi.fn<(material: TlsMaterial) => void>()
    rmSync(join(folder, 'tls'), { recursive: true })
    stops.push(served.follow(take))
    nowMs = START_MS + 61 * DAY_MS
    await vi.waitFor(() => expect(lines.join('')).toContain('the former one stays'))
    expect(served.current()).toEqual(before)
    expect(take).not.toHaveBeenCalled()
  })

  it('renews on request, and only where that is due', async () => {
    const served = await open()
    const before = served.current()
    expect(await served.reload()).toEqual(before)
    nowMs = START_MS + 61 * DAY_MS
    expect(endOf(await served.reload())).toBe(nowMs + 90 * DAY_MS)
  })

  it('is for the host of the base URL', async () => {
    const { cert } = (await open(configWith('--base-url', 'https://ctl.example.net'))).current()
    expect(new X509Certificate(cert).checkHost('ctl.example.net')).toBe('ctl.example.net')
  })

  it('warns in the last half year of the authority, which every client must replace', async () => {
    await open()
    expect(lines).toEqual([])
    nowMs = START_MS + 3_600 * DAY_MS
    await open()
    expect(lines.join('')).toContain('the certificate authority of --tls-self-signed ends soon')
    expect(() => checkTls(configWith().tls, { now: () => START_MS + 3_650 * DAY_MS })).toThrow('ended on')
  })
})
