import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createCliHome } from '../support/cli/cli-run.ts'
import { startStub } from '../support/cli/stub-server.ts'
import { words } from '../support/cli/transcript.ts'
import { capacityFleet } from './capacity-fleet.ts'

const PAGE = readFileSync(fileURLToPath(new URL('../../docs/fleet-operations.md', import.meta.url)), 'utf8')
const [, CHAPTER = ''] = /^## Capacity at the terminal$([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(PAGE) ?? []

describe('The page on operating a fleet, about capacity', () => {
  it('shows what ctl capacity show prints, and command lines that work', async () => {
    const stub = await startStub(capacityFleet().routes)
    const home = createCliHome({ CTL_URL: stub.url, CTL_TOKEN: 'psk_local_x' })
    const [, shown] = /^```console\n\$ ctl capacity show default\n([\s\S]*?)^```$/m.exec(CHAPTER) ?? []
    const { stdout, stderr } = await home.run(words('ctl capacity show default'), { isTty: true })
    expect(`${stdout}${stderr}`).toBe(shown)
    const lines = [...CHAPTER.matchAll(/^ctl capacity targets set .*$/gm)].map(([line]) => line)
    const codes: number[] = []
    for (const line of lines) codes.push((await home.run(words(line), { isTty: true })).exitCode)
    expect(codes).toEqual([0, 0])
    home.remove()
    await stub.close()
  })
})
