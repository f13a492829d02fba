"""Development aids for the tests of this workspace; see `seam.testkit.plugin`."""
