// The search of the site runs in a worker, and browsers allow none on pages that are read from a folder.
// There, and only there, its script runs in a hidden frame instead. The name of this file tells the theme that it is
// here, so that it asks nobody else for one.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super()
      const worker = this
      this.waiting = []
      this.ready = false
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      this.inside = this.frame.contentWindow
      // What the script sends goes to the page.
      this.inside.postMessage = data => worker.tell(new MessageEvent("message", { data }))
      // Scripts cannot be loaded while one runs; who calls this waits for what it gives.
      this.inside.importScripts = (...addresses) => addresses.reduce(
        (before, next) => before.then(() => worker.load(next)),
        Promise.resolve()
      )
      this.load(address).then(() => {
        worker.ready = true
        worker.waiting.forEach(data => worker.hand(data))
      }, () => worker.tell(new Event("error")))
    }

    load(address) {
      return new Promise((done, failed) => {
        const script = this.inside.document.createElement("script")
        script.src = address
        script.onload = done
        script.onerror = failed
        this.inside.document.body.append(script)
      })
    }

    tell(event) {
      this.dispatchEvent(event)
      this[`on${event.type}`]?.(event)
    }

    hand(data) {
      this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }))
    }

    postMessage(data) {
      this.ready ? this.hand(data) : this.waiting.push(data)
    }

    terminate() {
      this.frame.remove()
    }
  }
}
