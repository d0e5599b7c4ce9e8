// Preloaded into a process (`node --import`): kills it, as `kill -9` would, at a statement of one request. Plain JavaScript,
// since Node 20 strips no types. The header `x-test-kill-at: 7` names the place: before the seventh statement that the
// process sends to its datastore, the embedded one included, from the beginning of that request on; or before the answer,
// where fewer are sent. `x-test-kill-at: 7 sent` kills right after the statement was sent. `x-test-kill-at: 0` kills
// nothing. In any case `statements: N` is printed to stderr when the answer begins.
import http from 'node:http'
import pg from 'pg'

/** The place in the request under way; undefined between such requests. */
let place
let sent = 0

const die = () => process.kill(process.pid, 'SIGKILL')
const isAt = (when) => place !== undefined && place.when === when && place.at === sent

const realQuery = pg.Client.prototype.query
pg.Client.prototype.query = function (asked, ...rest) {
  if (place !== undefined && asked instanceof pg.Query) {
    sent += 1
    if (isAt('before')) die()
    if (isAt('sent')) setImmediate(die)
  }
  return realQuery.call(this, asked, ...rest)
}

const realEmit = http.Server.prototype.emit
http.Server.prototype.emit = function (event, request, ...rest) {
  const header = event === 'request' ? request.headers['x-test-kill-at'] : undefined
  if (header !== undefined) {
    const [at, when = 'before'] = header.split(' ')
    place = { at: Number(at), when }
    sent = 0
    const [response] = rest
    const realHead = response.writeHead
    response.writeHead = function (...given) {
      if (place !== undefined) {
        process.stderr.write(`statements: ${sent}\n`)
        if (place.at > 0) die()
        place = undefined
      }
      return realHead.apply(this, given)
    }
  }
  return realEmit.call(this, event, request, ...rest)
}
