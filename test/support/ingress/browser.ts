import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Box, Lab } from '../mesh/lab.ts'

const CHILD = fileURLToPath(new URL('browser-child.mjs', import.meta.url))

/** What happened on a connection. */
export interface BrowserFact {
  readonly opened?: { readonly subject: string; readonly issuer: string }
  readonly data?: string
  readonly error?: string
  readonly closed?: boolean
}

/** A TLS connection of a machine of the lab. */
export interface Browser {
  /** What happens next. @throws where the connection is over. */
  next(): Promise<BrowserFact>
  send(line: string): void
  close(): void
}

/** Where a browser goes; without a name none is sent. */
export interface BrowserGoal {
  readonly address: string
  readonly name?: string
}

/** Opens a TLS connection to port 443 of an address, by a server name. */
export function openBrowser(lab: Lab, box: Box, { address, name = '' }: BrowserGoal): Browser {
  const child = lab.spawn(box, [process.execPath, CHILD, address, '443', name], { stdio: ['pipe', 'pipe', 'inherit'] })
  if (child.stdout === null || child.stdin === null) throw new Error('a browser without pipes')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const { stdin } = child
  return {
    async next() {
      const line = await lines.next()
      if (line.done === true) throw new Error('the connection is over')
      return JSON.parse(line.value) as BrowserFact
    },
    send: (line) => void stdin.write(`${line}\n`),
    close: () => void child.kill('SIGKILL'),
  }
}

/** Asks for a page by HTTP and resolves with what came, and who showed a certificate; empty where the connection was closed. */
export async function askPage(lab: Lab, box: Box, goal: BrowserGoal): Promise<{ issuer: string; text: string }> {
  const browser = openBrowser(lab, box, goal)
  try {
    const { opened } = await browser.next()
    if (opened === undefined) return { issuer: '', text: '' }
    browser.send(`GET / HTTP/1.1\r\nHost: ${goal.name ?? ''}\r\nConnection: close\r\n`)
    let text = ''
    for (let fact = await browser.next(); fact.closed !== true; fact = await browser.next()) text += fact.data ?? ''
    return { issuer: opened.issuer, text }
  } finally {
    browser.close()
  }
}

/** Resolves once a program of the lab has printed something. */
export async function hasPrinted(child: ReturnType<Lab['spawn']>): Promise<void> {
  if (child.stdout === null) throw new Error('a program without a pipe')
  await once(child.stdout, 'data')
}
