import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runServe } from '../../../../src/server/commands/serve.ts'

async function checked(mode: number) {
  const directory = mkdtempSync(join(tmpdir(), 'ctl-check-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'master-key')
  writeFileSync(path, 'A'.repeat(43), { mode })
  const said: string[] = []
  const stream = { isTty: false, columns: 80, rows: 24, write: (text: string) => void said.push(text) }
  const io = {
    stdout: stream,
    stderr: stream,
    keepContext: async () => async () => undefined,
    simulate: async () => undefined,
  }
  const argv = ['--check', '--data-dir', directory, '--master-key-file', path]
  return { exitCode: await runServe(argv, {}, io), said: said.join(''), path }
}

test('serve --check warns of a master key that others can read, and stays valid', async () => {
  const { exitCode, said, path } = await checked(0o644)
  expect(exitCode).toBe(0)
  expect(said).toBe(
    `warning: Others can read the master key ${path}; run: chmod 600 ${path}\nThe configuration is valid.\n`,
  )
})

test('serve --check says nothing of a master key that its owner alone reads', async () => {
  expect((await checked(0o600)).said).toBe('The configuration is valid.\n')
})
