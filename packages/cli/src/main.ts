import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import { version } from "./version.ts"

NodeRuntime.runMain(Console.log(`sallyport ${version}`))
