/**
 * `sallyport serve`: an entry of its own, without Effect: that comes with the server.
 *
 * @since 0.1.0
 */
import * as Serve from "./commands/serve.ts"

const options = Serve.read(process.argv.slice(3))
const stopped = options._tag === "Stop" ? options : await Serve.run(options).catch(Serve.unforeseen)
if (stopped !== undefined) {
  process.stderr.write(`${stopped.message}\n`)
  process.exitCode = stopped.code
}
