import { CHECKS } from './checks.mjs'

/** Where breaks that were decided on are written down. */
export const EXCEPTIONS = 'docs/contract/compat-exceptions.json'

const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE']

/** Each required member, and what it must be. */
const MEMBERS = {
  id: { isFine: (text) => Object.hasOwn(CHECKS, text), must: 'name a check of scripts/lib/compat/checks.mjs' },
  method: { isFine: (text) => METHODS.includes(text), must: 'be an HTTP method in upper case' },
  path: { isFine: (text) => text.startsWith('/v1/'), must: 'start with /v1/' },
  detail: { isFine: (text) => text.trim() !== '', must: "be the finding's own text" },
  reason: { isFine: (text) => text.trim() !== '', must: 'say why' },
}

/**
 * Reads the exceptions.
 *
 * @returns {{ entries: object[], errors: string[] }} errors in words, none when every entry is as it must be
 */
export function readExceptions(text) {
  let entries
  try {
    entries = JSON.parse(text)
  } catch (error) {
    return { entries: [], errors: [`it is not JSON: ${error.message}`] }
  }
  if (!Array.isArray(entries)) return { entries: [], errors: ['it is not a list'] }
  const errors = entries.flatMap((entry, at) => wrongIn(entry).map((wrong) => `entry ${at + 1}: ${wrong}`))
  const twice = entries.flatMap((entry, at) =>
    entries.slice(0, at).some((other) => sameEntry(entry, other)) ? [`entry ${at + 1} is there twice`] : [],
  )
  return { entries, errors: [...errors, ...twice] }
}

function wrongIn(entry) {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return ['it is not an object']
  const unknown = Object.keys(entry).filter((name) => !Object.hasOwn(MEMBERS, name))
  const wrong = Object.entries(MEMBERS).filter(([name, { isFine }]) => {
    return typeof entry[name] !== 'string' || !isFine(entry[name])
  })
  return [
    ...unknown.map((name) => `${name} is no member of an exception`),
    ...wrong.map(([name, { must }]) => `${name} must ${must}`),
  ]
}

/** Whether two entries except the same finding. */
export function sameEntry(a, b) {
  return ['id', 'method', 'path', 'detail'].every((name) => a?.[name] === b?.[name])
}

/**
 * Pairs breaking findings with the entries that except them.
 *
 * @returns unexcepted findings; excepted ones with their reason; entries that except nothing, by whether the base has them
 */
export function applyExceptions(findings, { entries, before }) {
  const breaking = findings.filter(({ level }) => level === 'ERR')
  const entryOf = (finding) => entries.find((entry) => sameEntry(entry, finding))
  const idle = entries.filter((entry) => !breaking.some((finding) => sameEntry(entry, finding)))
  const isOld = (entry) => before.some((other) => sameEntry(entry, other))
  return {
    broken: breaking.filter((finding) => entryOf(finding) === undefined),
    excepted: breaking.flatMap((finding) => {
      const entry = entryOf(finding)
      return entry === undefined ? [] : [{ ...finding, reason: entry.reason }]
    }),
    unmatched: idle.filter((entry) => !isOld(entry)),
    removable: idle.filter(isOld),
  }
}
