import { signIn } from '../../../shared/contract/sign-in.ts'
import { problemCodesOf } from '../../../shared/contract/problem-codes.ts'
import { PROBLEMS } from '../../../shared/problems.ts'

/** Error sentences of a failed sign-in, by code. */
function sentences(): Readonly<Record<string, string>> {
  const { PostAuthSignIn, GetAuthCallback } = signIn.operations
  const codes = new Set([PostAuthSignIn, GetAuthCallback].flatMap((operation) => problemCodesOf(operation)))
  return Object.fromEntries([...codes].toSorted().map((code) => [code, PROBLEMS[code].detail]))
}

/** JSON that cannot end the script that it is in. */
function inert(value: object): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}

/** The script of the start page. It writes texts, never markup: nothing from the network or the address is executed. */
export function homeScript(): string {
  return `'use strict'
const SENTENCES = ${inert(sentences())}
const KNOWN_DOMAIN = 'ctl.domain_id'
const byId = (id) => document.getElementById(id)
const query = new URLSearchParams(location.search)
const PLACES = { account: '/v1/account', console: '/v1/console/' + location.hash }
const THEN = query.get('then')
const RETURN_TO = Object.hasOwn(PLACES, THEN) ? PLACES[THEN] : '/'

function say(text) { byId('status').textContent = text }

function complain(problem) {
  const known = Object.hasOwn(SENTENCES, problem.code) ? SENTENCES[problem.code] : problem.detail
  const id = problem.correlation_id ? ' Correlation id: ' + problem.correlation_id : ''
  byId('problem').textContent = (known || 'The sign-in failed: ' + problem.code + '.') + id
  byId('problem').hidden = false
}

async function ask(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
    credentials: 'same-origin',
    cache: 'no-store',
  })
  const text = await response.text()
  return { status: response.status, document: text === '' ? undefined : JSON.parse(text) }
}

/** Runs the action of a button, once at a time; a failure is shown on the page. */
async function attempt(button, work) {
  button.disabled = true
  byId('problem').hidden = true
  try {
    await work()
  } catch (error) {
    complain({ detail: 'The server cannot be reached.' })
  } finally {
    button.disabled = false
  }
}

function remembered() {
  try { return localStorage.getItem(KNOWN_DOMAIN) } catch (error) { return null }
}

function remember(domainId) {
  try { localStorage.setItem(KNOWN_DOMAIN, domainId) } catch (error) { /* A browser that keeps nothing is asked again. */ }
}

const instant = (text) => (text === null || text === undefined ? 'unknown' : new Date(text).toLocaleString())

function showSignedIn(me) {
  byId('who').textContent = 'Signed in as ' + me.display_name
  byId('subject').textContent = me.subject
  byId('domain').textContent = me.domain_display_name + ' (' + me.domain_slug + ')'
  byId('auth-time').textContent = instant(me.auth_time)
  byId('acr').textContent = me.acr === null ? 'unknown' : me.acr
  byId('expires').textContent = instant(me.credential.expires_at)
  byId('signed-in').hidden = false
  byId('signed-out').hidden = true
  remember(me.domain_id)
  say('You are signed in.')
}

const KINDS = { passkey: 'Passkey', totp: 'Authenticator app' }

function factorText(factor) {
  const used = factor.last_used_at === null ? 'not used yet' : 'used last ' + instant(factor.last_used_at)
  return KINDS[factor.kind] + ', set up ' + instant(factor.created_at) + ', ' + used + ' '
}

async function showFactors() {
  const { status, document: factors } = await ask('GET', '/v1/auth/factors')
  const rows = status === 200 ? factors : []
  byId('factor-list').replaceChildren(...rows.map((factor) => {
    const item = document.createElement('li')
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'quiet'
    button.textContent = factor.required ? 'Needed to sign in' : 'Remove'
    button.disabled = factor.required
    button.setAttribute('aria-label', button.textContent + ': ' + factorText(factor))
    button.addEventListener('click', () => attempt(button, () => removeFactor(factor)))
    item.append(factorText(factor), button)
    return item
  }))
  byId('factors').hidden = rows.length === 0
}

async function removeFactor(factor) {
  if (!confirm('Remove this second factor, and sign out of every other browser?')) return
  const { status, document: problem } = await ask('DELETE', '/v1/auth/factors/' + encodeURIComponent(factor.id))
  if (status === 401) await showSignedOut()
  if (status !== 204) return complain(problem)
  await showFactors()
  say('The second factor is removed.')
}

/** Goes to the identity provider; the browser comes back to the page before this one where it went at once. */
async function begin(button, where, leave = (url) => location.assign(url)) {
  await attempt(button, async () => {
    const { status, document: answer } = await ask('POST', '/v1/auth/sign-in', { ...where, return_to: RETURN_TO })
    if (status === 200) {
      say('Going to the identity provider …')
      leave(answer.authorization_url)
      return
    }
    if (answer.code === 'domain_required') return askForDomain()
    complain(answer)
    if (status === 400 || status === 404) byId('place').hidden = false
  })
}

function askForDomain() {
  byId('place').hidden = false
  byId('domain-slug').focus()
  say('To which Domain do you belong? Give its short name, then sign in.')
}

function typedPlace() {
  const place = {}
  if (byId('domain-slug').value.trim() !== '') place.domain = byId('domain-slug').value.trim()
  if (byId('alias').value.trim() !== '') place.idp_binding_alias = byId('alias').value.trim()
  return place
}

function addButton(label, isPrimary, onPress) {
  const button = document.createElement('button')
  button.type = isPrimary ? 'submit' : 'button'
  button.className = isPrimary ? 'primary' : 'quiet'
  button.textContent = label
  button.addEventListener('click', (event) => {
    event.preventDefault()
    void onPress(button)
  })
  byId('providers').append(button)
  return button
}

async function bindingsOf(domainId) {
  if (!domainId) return []
  const { status, document: bindings } = await ask('GET', '/v1/auth/idp-bindings?domain_id=' + encodeURIComponent(domainId))
  return status === 200 ? bindings : []
}

/** Returns the way to sign in, where there is only one. */
async function showSignedOut() {
  const domainId = query.get('domain_id') || remembered()
  const bindings = await bindingsOf(domainId)
  byId('providers').replaceChildren()
  const ways = []
  for (const [index, binding] of bindings.entries()) {
    const label = 'Sign in with ' + binding.label + ' (' + binding.issuer_host + ')'
    const where = { domain_id: domainId, idp_binding_id: binding.id }
    ways.push({ where, button: addButton(label, index === 0, (button) => begin(button, where)) })
  }
  const isOnly = bindings.length === 0
  const other = addButton(isOnly ? 'Sign in' : 'Sign in elsewhere', isOnly, (button) => {
    if (isOnly || !byId('place').hidden) return begin(button, typedPlace())
    byId('place').hidden = false
    byId('domain-slug').focus()
  })
  if (isOnly) ways.push({ where: {}, button: other })
  byId('signed-in').hidden = true
  byId('factors').hidden = true
  byId('signed-out').hidden = false
  say('You are not signed in.')
  return ways.length === 1 ? ways[0] : undefined
}

async function start() {
  const code = query.get('problem')
  if (code !== null) {
    const id = query.get('correlation_id') || ''
    complain({ code: code.slice(0, 64), correlation_id: id.slice(0, 128) })
    history.replaceState(null, '', location.pathname)
  }
  byId('command').textContent = byId('command').dataset.command + ' login --url ' + location.origin
  const isSignedOut = query.has('signed_out')
  if (isSignedOut) history.replaceState(null, '', location.pathname)
  say('Looking whether you are signed in …')
  try {
    const { status, document: answer } = await ask('GET', '/v1/auth/whoami')
    if (status === 200) {
      showSignedIn(answer)
      return await showFactors()
    }
    if (status !== 401) complain(answer)
    const way = await showSignedOut()
    if (isSignedOut) say('You are signed out.')
    // The person has pressed a button that leads here to sign in: one press is enough.
    else if (status === 401 && query.has('now') && way !== undefined)
      await begin(way.button, way.where, (url) => location.replace(url))
  } catch (error) {
    say('')
    complain({ detail: 'The server cannot be reached.' })
  }
}

// A page restored from the browser's back-forward cache may show a session that has ended.
addEventListener('pageshow', (event) => { if (event.persisted) location.reload() })
void start()
`
}
