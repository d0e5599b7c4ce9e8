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

pg.Client.prototype.query = function (asked, ...rest) {
  const isWatched = asked instanceof pg.Query && asked.text.trim().replaceAll(/\s+/g, ' ').startsWith(begins)
  if (!isWatched) return real.call(this, asked, ...rest)
  if (when === 'before') die()
  const { callback } = asked
  asked.callback = (error, result) => {
    if (!error && when === 'answered') die()
    if (!error && when === 'after') setTimeout(die, 5)
    callback(error, result)
  }
  return real.call(this, asked, ...rest)
}
