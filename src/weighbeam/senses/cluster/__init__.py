"""Senses on a Ray cluster: texts, pairs and URLs are worked on by its nodes, and come back as if read here.

    LocalSenses → port → Steady → Cluster ═ pipe ═ broker → pool → workers on the nodes

Only the broker and the workers know Ray. The broker is a process of its own, since whoever joins a cluster ends with
the node it joined.
"""
