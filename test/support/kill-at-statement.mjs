// Preloaded into a process (`node --import`): kills it, as `kill -9` would, at a statement that it sends to PostgreSQL. Plain
// JavaScript, since Node 20 strips no types. The query says which and when:
// `kill-at-statement.mjs?begins=insert into event_log&when=before`, before it is sent; `answered`: once it is answered, its
// transaction still open if it has one; `after`: a moment later, when the transaction may have ended.
import pg from 'pg'

const query = new URL(import.meta.url).searchParams
const begins = query.get('begins') ?? ''
const when = query.get('when')

const real = pg.Client.prototype.query
const die = () => process.kill(process.pid, 'SIGKILL')

pg.Client.prototype.query = function (...args) {
  const [asked] = args
  const text = typeof asked === 'string' ? asked : asked?.text
  if (typeof text !== 'string' || !text.trim().replaceAll(/\s+/g, ' ').startsWith(begins)) return real.apply(this, args)
  if (when === 'before') die()
  const result = real.apply(this, args)
  if (typeof result?.then === 'function') result.then(() => (when === 'after' ? setTimeout(die, 5) : die()))
  return result
}
