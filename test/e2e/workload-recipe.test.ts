import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { startCtl } from '../support/server/ctl-process.ts'

const DOCUMENT = readFileSync(fileURLToPath(new URL('../../docs/sign-in.md', import.meta.url)), 'utf8')
const [, CHAPTER = ''] = /^## Workloads with a key of their own\n([\s\S]*?)^## /m.exec(DOCUMENT) ?? []
const blocks = (language: string): readonly string[] =>
  [...CHAPTER.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text = '']) => text)

test('a workload that does as the document says gets a token of its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-recipe-'))
  const server = await startCtl({ args: ['--data-dir', join(folder, 'data')] })
  onTestFinished(async () => {
    await server.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  symlinkSync(fileURLToPath(new URL('../../bin/ctl.js', import.meta.url)), join(bin, 'ctl'))
  const [program = ''] = blocks('js')
  writeFileSync(join(folder, 'service-token.mjs'), program)

  const script = blocks('sh').join('\n').replaceAll('<base-url>', server.url)
  const env = {
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOME: folder,
    CTL_URL: server.url,
    CTL_TOKEN_FILE: join(folder, 'data', 'bootstrap-token'),
  }
  const { stdout } = await promisify(execFile)('sh', ['-euc', script], { cwd: folder, env })
  expect(stdout).toMatch(/^NAME\tBuild$/m)
  expect(stdout).toMatch(/^SUBJECT\tserviceaccount:[0-9a-f-]{36}$/m)
  expect(stdout).toMatch(/^CREDENTIAL TYPE\tapi-token$/m)
}, 240_000)
