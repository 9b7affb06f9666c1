import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import { version } from "./version.ts"

NodeRuntime.runMain(Console.error(`sallyport ${version}: the relay is not built yet`))
