import { storeContract } from "holdfast/testkit";
import { describe, it } from "vitest";
import { inMemory } from "../doubles/embedded-places.ts";

storeContract({ describe, it }, inMemory("embedded-memory"));
