import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WEBHOOK_EVENTS } from '../../../src/shared/webhooks/event-types.ts'
import { MESSAGE_SHAPES } from '../../../src/shared/webhooks/message-shapes.ts'
import { requirement } from '../../support/run/requirements.mjs'

const PAGE = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8')
const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
const OTHER = `whsec_${Buffer.alloc(32, 6).toString('base64')}`

function block(language: string): string {
  const [, code] = new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(PAGE) ?? []
  if (code === undefined) throw new Error(`the page has no block of ${language}`)
  return code
}

interface Case {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

function signed(secret: string, body: string, at = new Date()): Case {
  const signature = new Webhook(secret).sign('id-1', at, body)
  const headers = {
    'webhook-id': 'id-1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signature,
  }
  return { headers, body }
}

const body = '{"type":"ctl.test","name":"Größe"}'
const genuine = signed(SECRET, body)
const CASES: readonly (readonly [string, Case, boolean])[] = [
  ['takes what was signed', genuine, true],
  [
    'takes one of two signatures',
    {
      body,
      headers: {
        ...genuine.headers,
        'webhook-signature': `${signed(OTHER, body).headers['webhook-signature'] ?? ''} ${genuine.headers['webhook-signature'] ?? ''}`,
      },
    },
    true,
  ],
  ['refuses another body', { ...genuine, body: `${body} ` }, false],
  ['refuses another secret', signed(OTHER, body), false],
  ['refuses what is six minutes old', signed(SECRET, body, new Date(Date.now() - 360_000)), false],
  [
    'refuses a signature that is no ASCII',
    { body, headers: { ...genuine.headers, 'webhook-signature': `v1,${'é'.repeat(44)}` } },
    false,
  ],
]

describe('The page on webhooks', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-webhook-docs-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(CASES)('has a check for Node.js that %s', async (_title, { headers, body: text }, isGenuine) => {
    const file = join(folder, 'verify.mjs')
    writeFileSync(file, block('js'))
    const { verify } = (await import(pathToFileURL(file).href)) as { verify(...of: unknown[]): boolean }
    expect(verify(SECRET, headers, text)).toBe(isGenuine)
  })

  it.skipIf(requirement('python3-cryptography') === undefined).each(CASES)(
    'has a check for Python that %s',
    (_title, sent, isGenuine) => {
      const program = `${block('python')}\nimport json, sys\ngiven = json.load(sys.stdin)\nprint(verify(given["secret"], given["headers"], given["body"]))\n`
      const input = JSON.stringify({ secret: SECRET, ...sent })
      const printed = execFileSync('python3', ['-c', program], { input, encoding: 'utf8' })
      expect(printed.trim()).toBe(isGenuine ? 'True' : 'False')
    },
  )

  it('names every type, and the example is one', () => {
    for (const type of WEBHOOK_EVENTS) expect(PAGE).toContain(`| \`${type}\` |`)
    expect(MESSAGE_SHAPES['node.offline'].fits(JSON.parse(block('json')))).toBe(true)
  })
})
