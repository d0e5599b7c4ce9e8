import { appendFileSync } from 'node:fs'

const log = process.env['CTL_TEST_IMPORT_LOG']

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  if (log !== undefined) appendFileSync(log, `${url}\n`)
  return nextLoad(url, context)
}
