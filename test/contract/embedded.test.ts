import { storeContract } from "holdfast/testkit";
import { describe, it } from "vitest";
import { onDisk } from "../doubles/embedded-places.ts";

storeContract({ describe, it }, onDisk("embedded"));
