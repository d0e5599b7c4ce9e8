// Preloaded into a process (`node --import`): kills it, as `kill -9` would, at a statement of one request. Plain JavaScript,
// since Node 20 strips no types. The header `x-test-kill-at` names the place: `7` is before the seventh statement that the
// request sends to the datastore, the embedded one included; `7 sent` is right after it was sent; `answer` is before the
// answer, where a request that sends fewer statements is killed in any case. `0` kills nothing. `statements: N` is printed
// to stderr when the answer begins. Statements of the process's other work do not count.
import { AsyncLocalStorage } from 'node:async_hooks'
import http from 'node:http'
import pg from 'pg'

const requests = new AsyncLocalStorage()
const die = () => process.kill(process.pid, 'SIGKILL')

const realQuery = pg.Client.prototype.query
pg.Client.prototype.query = function (asked, ...rest) {
  const request = requests.getStore()
  if (request !== undefined && asked instanceof pg.Query) {
    request.sent += 1
    const isThere = request.sent === request.at
    if (isThere && request.when === 'before') die()
    if (isThere && request.when === 'sent') setImmediate(die)
  }
  return realQuery.call(this, asked, ...rest)
}

const realEmit = http.Server.prototype.emit
http.Server.prototype.emit = function (event, ...rest) {
  const [request, response] = rest
  const header = event === 'request' ? request.headers['x-test-kill-at'] : undefined
  if (header === undefined) return realEmit.call(this, event, ...rest)
  const [at, when = 'before'] = header.split(' ')
  const place = { at: at === 'answer' ? Infinity : Number(at), when, sent: 0 }
  const realHead = response.writeHead
  response.writeHead = function (...given) {
    process.stderr.write(`statements: ${place.sent}\n`)
    if (place.at > 0) die()
    return realHead.apply(this, given)
  }
  // Also what is begun by later parts of the request, such as its body, belongs to it.
  requests.enterWith(place)
  return realEmit.call(this, event, ...rest)
}
