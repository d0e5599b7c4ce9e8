// @ts-check
// Plain JavaScript, checked through JSDoc: a child process runs it straight from the source tree too, and Node 20 does
// not strip types. It is a process of its own because initialisation peaks at several times the steady memory.
import { PGlite } from '@electric-sql/pglite'

/** What the operator must hear of, by the error numbers of Emscripten's file system. */
const CAUSES = new Map([
  [2, 'EACCES'],
  [19, 'EDQUOT'],
  [51, 'ENOSPC'],
  [69, 'EROFS'],
])

/** @param {unknown} error */
function causeOf(error) {
  const errno = typeof error === 'object' && error !== null && 'errno' in error ? Number(error.errno) : undefined
  return (
    (errno === undefined ? undefined : CAUSES.get(errno)) ?? (error instanceof Error ? error.message : String(error))
  )
}

const directory = process.argv[2]
if (directory === undefined) throw new Error('usage: initialize <directory>')
try {
  const engine = await PGlite.create(directory)
  await engine.close()
} catch (error) {
  process.stderr.write(causeOf(error))
  process.exitCode = 1
}
