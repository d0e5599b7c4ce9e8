import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { noticesOf } from './notices.mjs'

const BASE = '/v1/console/'

const digestOf = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 16)

/** Puts the browser's modules together in one script, with the licences of what is in it. */
async function script(source) {
  const bundle = await rolldown({
    input: join(source, 'main.tsx'),
    platform: 'browser',
    tsconfig: join(source, 'tsconfig.json'),
    onLog(level, log) {
      if (level === 'warn') throw new Error(`the console cannot be put together: ${log.message}`)
    },
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false, comments: false })
  await bundle.close()
  const [chunk] = output
  return { text: chunk.code, licences: noticesOf(chunk.moduleIds) }
}

/**
 * Writes the console to `dist/console`: the page, its script and its style sheet, each also compressed, and the table `files.json`
 * that the server serves by. The page asks for script and style sheet with the digest of their contents.
 */
export async function bundleConsole(root, dist) {
  const source = join(root, 'src/console')
  const folder = join(dist, 'console')
  mkdirSync(folder, { recursive: true })
  const write = (name, text, media) => {
    const bytes = Buffer.from(text)
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    writeFileSync(join(folder, name), bytes)
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params }))
    return { name, media, digest: digestOf(bytes) }
  }
  const { text, licences } = await script(source)
  const style = readFileSync(join(source, 'style.css'), 'utf8')
  const js = write('console.js', text, 'text/javascript; charset=utf-8')
  const css = write('console.css', style, 'text/css; charset=utf-8')
  const page = readFileSync(join(source, 'index.html'), 'utf8')
    .replace('console.css', () => `${BASE}${css.name}?v=${css.digest}`)
    .replace('console.js', () => `${BASE}${js.name}?v=${js.digest}`)
  const index = write('index.html', page, 'text/html; charset=utf-8')
  writeFileSync(join(folder, 'files.json'), `${JSON.stringify({ index, assets: [js, css] })}\n`)
  writeFileSync(join(folder, 'LICENSES.txt'), licences)
}
