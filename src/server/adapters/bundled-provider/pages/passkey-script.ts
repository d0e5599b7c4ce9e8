/**
 * The script for passkeys, the only one on the pages: it shows the forms that are hidden without it, asks
 * the browser for a passkey when one of them is sent, and sends the browser's answer as a form field.
 */
export const PASSKEY_SCRIPT = `
(function () {
  'use strict'
  if (!window.PublicKeyCredential) return
  function bytes(text) {
    var binary = atob(text.replace(/-/g, '+').replace(/_/g, '/'))
    return Uint8Array.from(binary, function (c) { return c.charCodeAt(0) })
  }
  function text(buffer) {
    if (!buffer) return undefined
    var binary = Array.from(new Uint8Array(buffer), function (b) { return String.fromCharCode(b) }).join('')
    return btoa(binary).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=+$/, '')
  }
  function withIds(list) {
    return (list || []).map(function (item) { return Object.assign({}, item, { id: bytes(item.id) }) })
  }
  function ask(kind, options) {
    options.challenge = bytes(options.challenge)
    if (kind === 'get') {
      options.allowCredentials = withIds(options.allowCredentials)
      return navigator.credentials.get({ publicKey: options })
    }
    options.user.id = bytes(options.user.id)
    options.excludeCredentials = withIds(options.excludeCredentials)
    return navigator.credentials.create({ publicKey: options })
  }
  function described(credential) {
    var from = credential.response
    return JSON.stringify({
      id: credential.id, rawId: text(credential.rawId), type: credential.type, clientExtensionResults: {},
      response: {
        clientDataJSON: text(from.clientDataJSON), attestationObject: text(from.attestationObject),
        authenticatorData: text(from.authenticatorData), signature: text(from.signature),
        userHandle: text(from.userHandle), transports: from.getTransports ? from.getTransports() : undefined
      }
    })
  }
  document.querySelectorAll('form[data-passkey]').forEach(function (form) {
    form.hidden = false
    form.addEventListener('submit', function (event) {
      event.preventDefault()
      var failed = form.querySelector('.failure')
      failed.hidden = true
      ask(form.dataset.passkey, JSON.parse(form.dataset.options)).then(function (credential) {
        form.elements.credential.value = described(credential)
        form.submit()
      }).catch(function () { failed.hidden = false; failed.focus() })
    })
  })
})()
`
