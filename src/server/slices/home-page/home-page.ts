import { markup, type Markup } from '../../../shared/pages/markup.ts'
import { pageDocument } from '../../../shared/pages/page-document.ts'
import type { Page } from '../../http/pages/pages.ts'
import { homeScript } from './home-script.ts'

/** What the start page names. */
interface HomePageFacts {
  /** Whether a visitor may have a local account. */
  readonly hasLocalAccounts: boolean
  /** How the command line is typed, e.g. `npx ctl`. */
  readonly command: string
}

/**
 * The start page: the same bytes for everybody. The session's cookie is not sent to it, since its path is `/v1/`, so its
 * script asks `GET /v1/auth/whoami` who is signed in here (decisions 2).
 */
export function createHomePage({ hasLocalAccounts, command }: HomePageFacts): Page {
  const document = pageDocument({
    title: 'ctl',
    body: bodyOf(hasLocalAccounts ? ACCOUNT_LINK : undefined, command),
    script: homeScript(),
    isAsking: true,
  })
  return { method: 'GET', path: '/', handler: () => ({ document }) }
}

const ACCOUNT_LINK = markup`<p><a href="/v1/account">Password and recovery codes</a> of a local account.</p>\n`

/** The forms lead to a page of the API, which may send the browser on to its identity provider. */
const bodyOf = (accountLink: Markup | undefined, command: string): Markup => markup`<h1>ctl</h1>
<p>The control plane of an encrypted peer-to-peer mesh.</p>
<noscript>
<p class="notice">Signing in here needs scripts, since this page asks the API who you are. Without them, everything works from
the command line: <code>${command} login</code> signs you in, <code>${command} --help</code> shows what there is to do.</p>
</noscript>
<div id="problem" class="failure" role="alert" hidden></div>
<p id="status" role="status">&nbsp;</p>
<section id="signed-in" class="card" aria-labelledby="who" hidden>
<h2 id="who">Signed in</h2>
<dl class="facts">
<dt>Subject</dt><dd id="subject"></dd>
<dt>Domain</dt><dd id="domain"></dd>
<dt>Signed in at</dt><dd id="auth-time"></dd>
<dt>Assurance</dt><dd id="acr"></dd>
<dt>Ends at the latest</dt><dd id="expires"></dd>
</dl>
<p><a href="/v1/console/">Open the console</a> to look at your fleet and to decide what waits for you.</p>
${accountLink}<form method="post" action="/v1/sign-out" class="row">
<button class="primary">Sign out</button>
<button class="quiet" name="everywhere" value="yes">Sign out of every browser</button>
</form>
</section>
<section id="factors" class="card" aria-labelledby="factors-title" hidden>
<h2 id="factors-title">Second factors of your local account</h2>
<ul id="factor-list" class="list"></ul>
<p>To set up another one, sign in again and choose so there.</p>
</section>
<section id="signed-out" class="card" aria-labelledby="sign-in-title" hidden>
<h2 id="sign-in-title">Sign in</h2>
<form id="sign-in">
<div id="place" hidden>
<label for="domain-slug">Domain</label>
<input id="domain-slug" type="text" autocomplete="organization" autocapitalize="none" spellcheck="false" maxlength="63">
<label for="alias">Identity provider, by its alias (may be left empty)</label>
<input id="alias" type="text" autocapitalize="none" spellcheck="false" maxlength="63">
</div>
<div id="providers" class="row"></div>
</form>
</section>
<section class="card" aria-labelledby="cli">
<h2 id="cli">From the command line</h2>
<pre id="command" data-command="${command}"><code>${command} login</code></pre>
<p>Then <code>${command} status</code> shows the whole at a glance, and <code>${command} sessions list</code> where you are signed in.</p>
</section>
<p><a href="/v1/docs">The API is documented here</a>.</p>`
