import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of the package that a module belongs to, up to and with its name; undefined for a module of ours. */
const FOLDER = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/

/** The name under which a package that ships no licence text says whose it is. */
const holderOf = ({ author }) => (typeof author === 'string' ? author : author?.name)

function noticeOf(folder) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder)
    .filter((name) => /^(?:licen[cs]e|notice)/i.test(name))
    .toSorted()
  const texts = files.map((name) => readFileSync(join(folder, name), 'utf8').trim())
  if (manifest.license === undefined && texts.length === 0) throw new Error(`${manifest.name} has no licence`)
  const head = [`${manifest.name} ${manifest.version}`, manifest.license, texts.length === 0 && holderOf(manifest)]
  return [head.filter(Boolean).join(', '), ...texts].join('\n\n')
}

/**
 * The licences of the packages that modules were taken from, in the order of their names.
 *
 * @param {readonly string[]} moduleIds Paths of the modules.
 */
export function noticesOf(moduleIds) {
  const folders = new Set(moduleIds.flatMap((id) => FOLDER.exec(id)?.[0] ?? []))
  // A package may be installed in several places.
  const notices = new Set([...folders].map(noticeOf))
  return `${[...notices].toSorted().join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}
