// Compares the contract with that of the base branch: what would break a client fails (CONTRIBUTING: Compatibility).
// The last line is for scripts: `N passed, N failed, N skipped`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CONTRACT, EVENTS } from './lib/compat/base.mjs'
import { runGate } from './lib/compat/gate.mjs'
import { recordedExamples } from './lib/recorded-examples.mjs'
import { root } from './lib/root.mjs'

const load = (path) => import(pathToFileURL(join(root, 'dist', path)).href)
const { contractDocument } = await load('shared/contract/document.js')
const { eventsDocument } = await load('shared/contract/events-document.js')
const { deprecationHeaders } = await load('server/http/deprecations.js')

const DOCUMENTS = { [CONTRACT]: contractDocument, [EVENTS]: eventsDocument }

/** The files are what is compared, so they have to be what the sources say. */
function compare() {
  const examples = recordedExamples(root)
  const isStale = (path) => readFileSync(join(root, path), 'utf8') !== DOCUMENTS[path](examples)
  const stale = Object.keys(DOCUMENTS).filter(isStale)
  if (stale.length > 0) {
    return {
      outcome: 'failed',
      lines: stale.map((path) => `${path} is not what the sources say; run \`npm run generate\`.`),
    }
  }
  return runGate({ root, env: process.env, checkMarker: deprecationHeaders })
}

const { outcome, lines } = compare()
for (const line of lines) process.stdout.write(`${line}\n`)
const totals = ['passed', 'failed', 'skipped'].map((each) => `${Number(outcome === each)} ${each}`)
process.stdout.write(`${totals.join(', ')}\n`)
process.exitCode = outcome === 'failed' ? 1 : 0
